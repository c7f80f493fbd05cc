#include "davinci/runs/task_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "davinci/config/task_config.h"
#include "davinci/judge/request/request.h"

namespace davinci::runs {

namespace fs = std::filesystem;

namespace {

agent::TaskBrief Brief(const config::TaskConfig& config, const rollout::StepSettings& settings) {
  agent::TaskBrief brief =
      agent::BriefOf(config, settings.target, settings.language, settings.reply);
  brief.other_shapes = brief.other_shapes || !settings.shapes.empty();
  brief.hints = settings.hints;
  return brief;
}

}  // namespace

Result<std::vector<rollout::TaskInput>> MakeTaskInputs(const std::vector<task::TaskEntry>& entries,
                                                       const rollout::StepSettings& settings) {
  std::vector<rollout::TaskInput> inputs;
  std::string problems;
  for (const task::TaskEntry& entry : entries) {
    auto task = task::ReadTask(entry.path.string(), settings.shapes);
    if (!task.ok()) {
      problems += (problems.empty() ? "" : "\n") + task.status().message();
      continue;
    }
    rollout::TaskInput input;
    input.id = entry.id;
    input.task = *task;
    input.brief = Brief(input.task->config, settings);
    input.brief.id = entry.id;
    input.brief.reference = input.task->source;
    DAVINCI_RETURN_IF_ERROR(agent::CheckLanguage(input.brief));
    inputs.push_back(std::move(input));
  }
  if (!problems.empty()) return InvalidArgument(problems);
  return inputs;
}

Result<rollout::TaskInput> InputFromRecord(const task::TaskEntry& entry,
                                           const rollout::StepSettings& settings) {
  DAVINCI_ASSIGN_OR_RETURN(const auto config,
                           config::ParseTaskConfig(entry.sidecar, entry.id + ".toml"));
  rollout::TaskInput input;
  input.id = entry.id;
  input.brief = Brief(config, settings);
  input.brief.id = entry.id;
  input.brief.reference = entry.source;
  return input;
}

Result<std::vector<task::TaskEntry>> LoadTasks(const std::vector<std::string>& paths,
                                               const task::TaskFilter& filter,
                                               std::vector<size_t>* path_of) {
  std::vector<task::TaskEntry> entries;
  for (size_t i = 0; i < paths.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(auto found, task::LoadTaskSet(paths[i], filter));
    for (task::TaskEntry& entry : found) {
      const bool taken = std::any_of(entries.begin(), entries.end(),
                                     [&](const task::TaskEntry& e) { return e.id == entry.id; });
      if (taken && !entry.path.empty()) {
        const bool same_file =
            std::any_of(entries.begin(), entries.end(),
                        [&](const task::TaskEntry& e) { return e.path == entry.path; });
        if (same_file) continue;
        entry.id = entry.path.parent_path().filename().string() + "/" + entry.id;
      }
      entries.push_back(std::move(entry));
      if (path_of != nullptr) path_of->push_back(i);
    }
  }
  std::map<std::string, std::string> origins;
  for (const task::TaskEntry& entry : entries) {
    const auto [other, fresh] = origins.try_emplace(entry.id, entry.origin);
    if (!fresh)
      return InvalidArgument(fmt::format("{} and {} are both called \"{}\"; rename one of them",
                                         other->second, entry.origin, entry.id));
  }
  return entries;
}

}  // namespace davinci::runs
