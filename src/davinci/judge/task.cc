#include "davinci/judge/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"

namespace davinci::judge {
namespace {

constexpr uint64_t kMaxTaskBytes = 4u << 20;

// From 1; 0 when all of it is UTF-8, which is what Python reads and JSON carries.
int LineThatIsNotUtf8(std::string_view text) {
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    try {
      (void)nlohmann::json(text.substr(0, end)).dump();
    } catch (const nlohmann::json::type_error&) {
      return line;
    }
    text.remove_prefix(end);
  }
  return 0;
}

}  // namespace

Result<Task> LoadTask(const std::string& path) {
  Task task;
  std::error_code error;
  task.path = std::filesystem::absolute(path, error).lexically_normal().string();
  DAVINCI_ASSIGN_OR_RETURN(task.source, ReadFile(path, kMaxTaskBytes));
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
    if (task.source.find("class " + c.entry) == std::string::npos &&
        task.source.find(c.entry + " =") == std::string::npos)
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
      .Field(c.Globals("cpu").dump())
      .Field(c.Globals("cuda").dump())
      .Field(config::PrecisionName(c.precision))
      .Field(config::ModuleModeName(c.mode))
      .Field(c.entry)
      .Field(c.function)
      .Field(c.op)
      .Field(c.inplace ? "inplace" : "")
      .Field(c.tolerance_multiple ? std::to_string(*c.tolerance_multiple) : "");
  for (const std::string& tag : c.tags) hash.Field(tag);
  for (const auto& variant : c.variants) hash.Field(variant.dump());
  task.hash = hash.FinishHex();
  return task;
}

}  // namespace davinci::judge
