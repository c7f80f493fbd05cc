// The tasks of a training run: sets, each for a target and a language.
//
// An entry of train.tasks and train.held_out is PATH, whose tasks are for the target and language
// of [task], or TARGET/LANGUAGE:PATH ("cpu/cpp:tasks", "cuda/triton:my-tasks") for others. So one
// run trains on several of both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/language.h"
#include "davinci/rollout/settings.h"
#include "davinci/rollout/step.h"
#include "davinci/task/task_set.h"

namespace davinci::training {

struct TaskKind {
  Target target = Target::kCpu;
  Language language = Language::kCpp;
  bool operator==(const TaskKind&) const = default;
};

// Tasks that the judge refuses, by id, and why.
using LeftOut = std::map<std::string, std::string>;
// "4 of 64 tasks are left out, because the judge refuses them: bert_layer, …"; "" for none.
std::string LeftOutText(const LeftOut& left_out, size_t num_tasks);

struct TaskSetName {
  std::string path;
  TaskKind kind;
};
// InvalidArgument: a target followed by what is no language.
Result<TaskSetName> ParseTaskSet(const std::string& entry, const TaskKind& usual);

struct TrainTask {
  task::TaskEntry entry;  // its id ends with " [cpu/cpp]" where the kind is not the usual one
  TaskKind kind;
  std::string split;  // name of the set: of a folder or a table; "files" of single files
};

// Tasks of all sets, in order, read as by runs::LoadTasks (runs/task_inputs.h) within a kind; two
// kinds may have the same files.
Result<std::vector<TrainTask>> LoadTrainTasks(const std::vector<std::string>& sets,
                                              const rollout::StepSettings& settings);

// Reads every task file; all broken ones are named at once. InvalidArgument for a language that
// cannot run on its target.
Result<std::vector<rollout::TaskInput>> InputsOf(const std::vector<TrainTask>& tasks,
                                                 const rollout::StepSettings& settings);

// InvalidArgument names a file that both have, of whatever kind.
Status CheckDisjoint(const std::vector<TrainTask>& trained, const std::vector<TrainTask>& held_out);

}  // namespace davinci::training
