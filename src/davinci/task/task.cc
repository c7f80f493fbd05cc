#include "davinci/task/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/suggest.h"
#include "davinci/base/utf8.h"

namespace davinci::task {
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
  task.candidate_entry = c.CandidateClass();
  if (c.entry.empty()) {
    task.candidate_function = c.CandidateEntry();
  } else {
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
  if (!c.inputs.empty()) hash.Field("inputs").Field(JsonText(c.inputs));
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

Result<nlohmann::json> ParseShape(std::string_view text) {
  nlohmann::json globals = nlohmann::json::object();
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view pair = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    const size_t equals = pair.find('=');
    const auto value =
        equals == std::string_view::npos
            ? nlohmann::json(nlohmann::json::value_t::discarded)
            : nlohmann::json::parse(pair.substr(equals + 1), nullptr, /*allow_exceptions=*/false);
    const std::string name(pair.substr(0, std::min(equals, pair.size())));
    const bool named = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '_';
                       });
    if (!named || !(value.is_number() || value.is_boolean()))
      return InvalidArgument(fmt::format(
          "\"{}\" is no shape; write NAME=NUMBER,…, naming globals of the task file that "
          "get_inputs() reads: ROWS=1024,COLS=77",
          text));
    globals[name] = value;
  }
  if (globals.empty()) return InvalidArgument("an empty shape; write NAME=NUMBER,…");
  return globals;
}

Status AddShapes(const std::vector<std::string>& shapes, Task* task) {
  if (shapes.empty()) return Status::Ok();
  Sha256 hash;
  hash.Field(task->hash);
  for (const std::string& shape : shapes) {
    DAVINCI_ASSIGN_OR_RETURN(nlohmann::json globals, ParseShape(shape));
    for (const auto& [name, value] : globals.items())
      if (!HasWord(task->source, name))
        return InvalidArgument(
            fmt::format("{}: no global {} to set for the shape \"{}\"", task->path, name, shape));
    hash.Field(JsonText(globals));
    task->config.variants.push_back(std::move(globals));
  }
  task->hash = hash.FinishHex();
  return Status::Ok();
}

Result<std::shared_ptr<const Task>> ReadTask(const std::string& path,
                                             const std::vector<std::string>& shapes) {
  DAVINCI_ASSIGN_OR_RETURN(Task task, LoadTask(path));
  DAVINCI_RETURN_IF_ERROR(AddShapes(shapes, &task));
  return std::make_shared<const Task>(std::move(task));
}

}  // namespace davinci::task
