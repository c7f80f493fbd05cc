// Tasks as the rollout engine takes them: the file that is judged, and what agents see.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/rollout/settings.h"
#include "davinci/rollout/step.h"
#include "davinci/task/task_set.h"

namespace davinci::runs {

// Reads every task file and its sidecar; all broken ones are named at once. InvalidArgument for a
// language that cannot run on the target.
Result<std::vector<rollout::TaskInput>> MakeTaskInputs(const std::vector<task::TaskEntry>& entries,
                                                       const rollout::StepSettings& settings);

// For a replay: the same from the texts that the run kept; the file may be gone.
Result<rollout::TaskInput> InputFromRecord(const task::TaskEntry& entry,
                                           const rollout::StepSettings& settings);

// The tasks of FILE… (files, folders, JSONL); ids that collide get their folder's name in front.
// `path_of` (may be null): the index of each task's path.
Result<std::vector<task::TaskEntry>> LoadTasks(const std::vector<std::string>& paths,
                                               const task::TaskFilter& filter,
                                               std::vector<size_t>* path_of = nullptr);

}  // namespace davinci::runs
