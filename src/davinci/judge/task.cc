#include "davinci/judge/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/suggest.h"
#include "davinci/base/utf8.h"

namespace davinci::judge {
namespace {

constexpr uint64_t kMaxTaskBytes = 4u << 20;

// From 1; 0 when all of it is UTF-8, which is what Python reads and JSON carries.
int LineThatIsNotUtf8(std::string_view text) {
  const std::string_view good = text.substr(0, ValidUtf8Prefix(text));
  if (good.size() == text.size()) return 0;
  return 1 + static_cast<int>(std::count(good.begin(), good.end(), '\n'));
}

bool HasWord(std::string_view text, std::string_view word) {
  const auto in_name = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if ((at == 0 || !in_name(at - 1)) && !in_name(at + word.size())) return true;
  return false;
}

// Files in the folder of `path` that are named like it; nothing where it cannot be read.
std::vector<std::string> Neighbours(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == path.extension()) names.push_back(at->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<std::string> ReadNamedFile(const std::string& path, uint64_t max_bytes,
                                  std::string_view key) {
  auto content = ReadFile(path, max_bytes);
  if (content.status().code() != StatusCode::kNotFound) return content;
  const std::filesystem::path file(path);
  return NotFound(fmt::format("{}{}; name a file with --{}, or in a job file with \"{}\"",
                              content.status().message(),
                              DidYouMean(file.filename().string(), Neighbours(file)), key, key));
}

Result<Task> LoadTask(const std::string& path) {
  Task task;
  std::error_code error;
  task.path = std::filesystem::absolute(path, error).lexically_normal().string();
  DAVINCI_ASSIGN_OR_RETURN(task.source, ReadNamedFile(path, kMaxTaskBytes, "reference"));
  if (const int line = LineThatIsNotUtf8(task.source); line > 0)
    return InvalidArgument(fmt::format("{}:{}: not UTF-8; save the file as UTF-8", path, line));
  DAVINCI_ASSIGN_OR_RETURN(task.config, config::LoadTaskConfig(path));
  const config::TaskConfig& c = task.config;
  if (!c.function.empty()) {
    task.candidate_entry = "ModelNew";
    task.candidate_function = c.function + "_new";
  } else if (!c.op.empty()) {
    task.candidate_entry = "ModelNew";
    task.candidate_function = c.op.substr(c.op.rfind('.') + 1) + "_new";
  } else {
    task.candidate_entry = c.entry + "New";
    if (!HasWord(task.source, c.entry))  // whether it is a class, the import will tell
      return InvalidArgument(
          fmt::format("{}: no class {}; a task file defines class Model(nn.Module), get_inputs() "
                      "and get_init_inputs() "
                      "(another name goes into its .toml: entry = \"…\")",
                      path, c.entry));
  }
  if (task.source.find("get_inputs") == std::string::npos)
    return InvalidArgument(fmt::format(
        "{}: no get_inputs(); define it to return the list of inputs of forward", path));
  Sha256 hash;
  hash.Field(task.source)
      .Field(JsonText(c.Globals("cpu")))
      .Field(JsonText(c.Globals("cuda")))
      .Field(config::PrecisionName(c.precision))
      .Field(config::ModuleModeName(c.mode))
      .Field(c.entry)
      .Field(c.function)
      .Field(c.op)
      .Field(c.inplace ? "inplace" : "")
      .Field(c.tolerance_multiple ? std::to_string(*c.tolerance_multiple) : "");
  for (const std::string& tag : c.tags) hash.Field(tag);
  for (const auto& variant : c.variants) hash.Field(JsonText(variant));
  const std::string file = task.path;
  task.files.emplace_back(file);
  if (!c.origin.empty()) {
    task.path = c.origin;
    task.files.emplace_back(c.origin);
  }
  task.imports = FindLocalImports(task.source, task.path);
  for (const std::filesystem::path& data : DataFilesOf(file)) task.data.push_back(data.string());
  if (!task.imports.digest.empty()) hash.Field("imports").Field(task.imports.digest);
  if (!task.data.empty()) hash.Field("data").Field(DigestOf(task.data));
  task.hash = hash.FinishHex();
  return task;
}

}  // namespace davinci::judge
