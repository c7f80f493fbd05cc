#include "davinci/runs/run_folder.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/config/recipe.h"

namespace davinci::runs {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kRunsFolder[] = "davinci-runs";
constexpr size_t kHashDigits = 8;

std::string Differences(const RunHeader& run, const RunHeader& asked) {
  std::string text;
  auto add = [&](const std::string& line) { text += (text.empty() ? "" : "; ") + line; };
  if (run.command != asked.command) add(fmt::format("it was made by `davinci {}`", run.command));
  for (const auto& [key, value] : asked.identity) {
    const auto other = run.identity.find(key);
    if (other == run.identity.end() || other->second != value)
      add(fmt::format("{} is {} there and {} here", key,
                      other == run.identity.end() ? "unknown" : other->second, value));
  }
  std::map<std::string, const task::TaskEntry*> tasks;
  for (const task::TaskEntry& task : run.tasks) tasks[task.id] = &task;
  for (const task::TaskEntry& task : asked.tasks) {
    const auto other = tasks.find(task.id);
    if (other == tasks.end())
      add(fmt::format("the task {} is not part of it", task.id));
    else if (other->second->source != task.source || other->second->sidecar != task.sidecar)
      add(fmt::format("the task {} has changed since", task.id));
  }
  if (run.tasks.size() > asked.tasks.size())
    add(fmt::format("it has {} tasks, this command {}", run.tasks.size(), asked.tasks.size()));
  return text;
}

}  // namespace

json TaskRecord(const task::TaskEntry& task) {
  json body = {{"id", task.id},
               {"path", task.path.string()},
               {"source", Sha256Hex(task.source)},
               {"sidecar", task.sidecar.empty() ? "" : Sha256Hex(task.sidecar)},
               {"origin", task.origin}};
  if (task.level) body["level"] = *task.level;
  if (task.problem) body["problem"] = *task.problem;
  return body;
}

Result<task::TaskEntry> TaskFromRecord(const json& body, store::RunStore& run) {
  task::TaskEntry task;
  task.id = body.at("id").get<std::string>();
  task.path = body.at("path").get<std::string>();
  DAVINCI_ASSIGN_OR_RETURN(task.source, run.GetBlob(body.at("source").get<std::string>()));
  if (const auto sidecar = body.at("sidecar").get<std::string>(); !sidecar.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(task.sidecar, run.GetBlob(sidecar));
  }
  task.origin = body.at("origin").get<std::string>();
  if (body.contains("level")) task.level = body["level"].get<int>();
  if (body.contains("problem")) task.problem = body["problem"].get<int>();
  return task;
}

json ToJson(const RunHeader& header) {
  json document = {{"command", header.command},
                   {"title", header.title},
                   {"version", header.version},
                   {"recorded", header.recorded},
                   {"created_unix_s", header.created_unix_s},
                   {"identity", header.identity},
                   {"tasks", json::array()}};
  for (const task::TaskEntry& task : header.tasks) document["tasks"].push_back(TaskRecord(task));
  return document;
}

Result<RunHeader> HeaderFrom(store::RunStore& run) {
  RunHeader header;
  try {
    const json& document = run.header();
    header.command = document.at("command").get<std::string>();
    header.title = document.at("title").get<std::string>();
    header.version = document.at("version").get<std::string>();
    header.recorded = document.at("recorded").get<bool>();
    header.created_unix_s = document.at("created_unix_s").get<double>();
    header.identity = document.at("identity").get<std::map<std::string, std::string>>();
    for (const json& task : document.at("tasks")) {
      DAVINCI_ASSIGN_OR_RETURN(task::TaskEntry entry, TaskFromRecord(task, run));
      header.tasks.push_back(std::move(entry));
    }
  } catch (const json::exception& error) {
    return InvalidArgument(
        fmt::format("{}: its header is damaged: {}", run.folder().string(), error.what()));
  }
  return header;
}

Status KeepSources(std::vector<task::TaskEntry>* tasks) {
  for (task::TaskEntry& task : *tasks) {
    if (!task.source.empty()) continue;
    DAVINCI_ASSIGN_OR_RETURN(task.source, ReadFile(task.path));
    fs::path sidecar = task.path;
    sidecar.replace_extension(".toml");
    std::error_code error;
    if (fs::exists(sidecar, error)) {
      DAVINCI_ASSIGN_OR_RETURN(task.sidecar, ReadFile(sidecar));
    }
    task.path = fs::absolute(task.path, error).lexically_normal();
  }
  return Status::Ok();
}

Status PlaceTaskRows(const fs::path& folder, std::vector<task::TaskEntry>* entries) {
  std::vector<task::TaskEntry> rows;
  for (const task::TaskEntry& entry : *entries)
    if (entry.path.empty()) rows.push_back(entry);
  if (rows.empty()) return Status::Ok();
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder / "tasks"));
  DAVINCI_RETURN_IF_ERROR(task::WriteTaskFiles(folder / "tasks", &rows));
  size_t next = 0;
  for (task::TaskEntry& entry : *entries)
    if (entry.path.empty()) entry.path = rows[next++].path;
  return Status::Ok();
}

fs::path DefaultRunFolder(const RunHeader& header) {
  Sha256 hash;
  hash.Field(header.command);
  for (const auto& [key, value] : header.identity) hash.Field(key).Field(value);
  for (const task::TaskEntry& task : header.tasks)
    hash.Field(task.id).Field(task.source).Field(task.sidecar);
  const std::string first = header.tasks.empty() ? "empty" : header.tasks.front().id;
  const std::string more =
      header.tasks.size() > 1 ? fmt::format("-and-{}-more", header.tasks.size() - 1) : "";
  return fs::path(kRunsFolder) / fmt::format("{}-{}{}-{}", header.command, FileNameFor(first), more,
                                             hash.FinishHex().substr(0, kHashDigits));
}

Result<std::unique_ptr<store::RunStore>> OpenRun(const fs::path& folder, const RunHeader& header,
                                                 const std::string& resolved_recipe) {
  std::unique_ptr<store::RunStore> run;
  if (store::RunStore::IsRun(folder)) {
    DAVINCI_ASSIGN_OR_RETURN(run, store::RunStore::Open(folder));
    DAVINCI_ASSIGN_OR_RETURN(const RunHeader there, HeaderFrom(*run));
    const std::string differences = Differences(there, header);
    if (!differences.empty())
      return InvalidArgument(
          fmt::format("{} is a run about something else: {}; give it the same command, or choose "
                      "another --run",
                      folder.string(), differences));
  } else {
    std::vector<std::string_view> texts;
    for (const task::TaskEntry& task : header.tasks) {
      texts.push_back(task.source);
      if (!task.sidecar.empty()) texts.push_back(task.sidecar);
    }
    DAVINCI_ASSIGN_OR_RETURN(run, store::RunStore::Create(folder, ToJson(header), texts));
  }
  // Rewritten when it goes on: limits and concurrency may differ, nothing else can.
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(folder / "recipe.toml", resolved_recipe));
  return run;
}

Result<RunRecipe> RecipeOf(const fs::path& folder, std::string* resolved) {
  DAVINCI_ASSIGN_OR_RETURN(const auto recipe, config::Recipe::Load(folder / "recipe.toml"));
  return ReadRecipe(recipe, resolved);
}

std::string FileNameFor(const std::string& task_id) {
  std::string name;
  bool changed = false;
  for (const char c : task_id) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || (c == '.' && !name.empty());
    changed = changed || !plain;
    name += plain ? c : '_';
  }
  if (changed || name.empty()) name += "-" + Sha256Hex(task_id).substr(0, kHashDigits);
  return name;
}

}  // namespace davinci::runs
