#include "davinci/orchestrator/task_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "davinci/base/json_text.h"
#include "davinci/config/task_config.h"
#include "davinci/judge/request.h"

namespace davinci::orchestrator {

namespace fs = std::filesystem;

namespace {

void Brief(const config::TaskConfig& config, const std::string& class_name,
           const rollout::StepSettings& settings, agent::TaskBrief* brief) {
  brief->entry = !config.function.empty() ? config.function
                 : !config.op.empty()     ? config.op
                                          : config.entry;
  brief->class_name = class_name;
  brief->target = settings.target;
  brief->language = settings.language;
  brief->precision = std::string(config::PrecisionName(config.precision));
  const auto& sizes = settings.target == Target::kCuda ? config.sizes_cuda : config.sizes_cpu;
  for (const auto& [name, value] : sizes.items()) brief->sizes.emplace_back(name, JsonText(value));
  brief->other_shapes = !config.variants.empty() || !settings.shapes.empty();
  brief->hints = settings.hints;
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
    input.brief.id = entry.id;
    input.brief.reference = input.task->source;
    Brief(input.task->config, input.task->candidate_entry, settings, &input.brief);
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
  input.brief.id = entry.id;
  input.brief.reference = entry.source;
  // As task::LoadTask: tasks without a class are wrapped in one.
  const bool is_class = config.function.empty() && config.op.empty();
  Brief(config, is_class ? config.CandidateEntry() : "ModelNew", settings, &input.brief);
  return input;
}

Result<std::vector<task::TaskEntry>> LoadTasks(const std::vector<std::string>& paths,
                                               const task::TaskFilter& filter) {
  std::vector<task::TaskEntry> entries;
  for (const std::string& path : paths) {
    DAVINCI_ASSIGN_OR_RETURN(auto found, task::LoadTaskSet(path, filter));
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

}  // namespace davinci::orchestrator
