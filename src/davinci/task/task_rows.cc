#include "davinci/task/task_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "davinci/base/json_text.h"
#include "davinci/base/number.h"
#include "davinci/base/suggest.h"

namespace davinci::task {
namespace {

using nlohmann::json;

// A Python class name; also what makes it safe to write into TOML.
bool IsIdentifier(std::string_view text) {
  const auto letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (text.empty() || !letter(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// An optional member of type text; "" when absent or null.
Result<std::string> Text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) return InvalidArgument(fmt::format("\"{}\" must be text", key));
  return found->get<std::string>();
}

// The published rows write levels as 1, "1" or "level1", and leave them out or null elsewhere.
std::optional<int> LenientLevel(const json& value) {
  if (value.is_number_integer()) return value.get<int>();
  if (!value.is_string()) return std::nullopt;
  std::string text = value.get<std::string>();
  for (const std::string_view prefix : {"level_", "level", "Level "})
    if (text.starts_with(prefix)) text = text.substr(prefix.size());
  return WholeNumber<int>(text);
}

Result<std::optional<int>> StrictNumber(const json& row, const char* key) {
  const auto found = row.find(key);
  if (found == row.end() || found->is_null()) return std::optional<int>();
  if (!found->is_number_integer() || *found < 0 || *found > 1'000'000'000)
    return InvalidArgument(fmt::format("\"{}\" must be a number from 0", key));
  return std::optional<int>(found->get<int>());
}

// `entry` as a setting in front of the row's own sidecar.
std::string Sidecar(std::string_view entry, std::string_view sidecar) {
  if (entry.empty() || entry == "Model") return std::string(sidecar);
  return fmt::format("entry = \"{}\"\n{}", entry, sidecar);
}

Result<TaskEntry> ReadPublishedRow(const json& row, int line_number) {
  TaskEntry task;
  const json& reward_model = row["reward_model"];
  if (!reward_model.is_object()) return InvalidArgument("\"reward_model\" must be an object");
  DAVINCI_ASSIGN_OR_RETURN(task.source, Text(reward_model, "ground_truth"));
  if (task.source.empty())
    return InvalidArgument("\"reward_model\" has no \"ground_truth\", the reference's source");
  const json extra = row.value("extra_info", json::object());
  if (!extra.is_object()) return InvalidArgument("\"extra_info\" must be an object");
  DAVINCI_ASSIGN_OR_RETURN(std::string entry, Text(extra, "entry_point"));
  if (entry.empty()) entry = "Model";
  if (!IsIdentifier(entry))
    return InvalidArgument(fmt::format("\"entry_point\" \"{}\" is no class name", entry));
  DAVINCI_RETURN_IF_ERROR(CheckTaskSource(task.source, entry));
  task.sidecar = Sidecar(entry, "");
  const json uuid = extra.value("uuid", json(nullptr));
  if (uuid.is_string()) task.id = uuid.get<std::string>();
  if (uuid.is_number_integer()) task.id = JsonText(uuid);
  if (task.id.empty()) task.id = fmt::format("row-{}", line_number);
  task.level = LenientLevel(extra.value("level", json(nullptr)));
  return task;
}

Result<TaskEntry> ReadOwnRow(const json& row, int line_number,
                             const std::filesystem::path& folder) {
  static const std::vector<std::string> kKeys = {"id",      "path",  "source",  "level",
                                                 "problem", "entry", "sidecar", "synth"};
  for (const auto& item : row.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), item.key()) == kKeys.end())
      return InvalidArgument(
          fmt::format("unknown key \"{}\"{}", item.key(), DidYouMean(item.key(), kKeys)));
  }
  TaskEntry task;
  DAVINCI_ASSIGN_OR_RETURN(task.id, Text(row, "id"));
  DAVINCI_ASSIGN_OR_RETURN(const std::string path, Text(row, "path"));
  DAVINCI_ASSIGN_OR_RETURN(task.source, Text(row, "source"));
  DAVINCI_ASSIGN_OR_RETURN(std::string entry, Text(row, "entry"));
  DAVINCI_ASSIGN_OR_RETURN(const std::string sidecar, Text(row, "sidecar"));
  DAVINCI_ASSIGN_OR_RETURN(task.level, StrictNumber(row, "level"));
  DAVINCI_ASSIGN_OR_RETURN(task.problem, StrictNumber(row, "problem"));
  if (path.empty() == task.source.empty())
    return InvalidArgument("needs either \"path\" or \"source\"");
  if (!entry.empty() && !IsIdentifier(entry))
    return InvalidArgument(fmt::format("\"entry\" \"{}\" is no class name", entry));
  if (!path.empty()) {
    if (!entry.empty() || !sidecar.empty())
      return InvalidArgument(
          "\"entry\" and \"sidecar\" go with \"source\"; a file has its .toml next to it");
    task.path = (folder / path).lexically_normal();
    if (task.id.empty()) task.id = task.path.stem().string();
    return task;
  }
  if (entry.empty() && sidecar.empty()) entry = "Model";
  DAVINCI_RETURN_IF_ERROR(CheckTaskSource(task.source, entry));
  task.sidecar = Sidecar(entry, sidecar);
  if (task.id.empty()) task.id = fmt::format("row-{}", line_number);
  return task;
}

}  // namespace

Status CheckTaskSource(std::string_view source, std::string_view entry) {
  if (source.find("get_inputs") == std::string_view::npos)
    return InvalidArgument("defines no get_inputs()");
  if (!entry.empty() && source.find(fmt::format("class {}", entry)) == std::string_view::npos &&
      source.find(fmt::format("{} =", entry)) == std::string_view::npos)
    return InvalidArgument(fmt::format("defines no class {}", entry));
  return Status::Ok();
}

Result<TaskEntry> ParseTaskRow(std::string_view line, int line_number,
                               const std::filesystem::path& folder) {
  const json row = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (row.is_discarded()) return InvalidArgument("is not JSON");
  if (!row.is_object()) return InvalidArgument("is not a JSON object");
  return row.contains("reward_model") ? ReadPublishedRow(row, line_number)
                                      : ReadOwnRow(row, line_number, folder);
}

}  // namespace davinci::task
