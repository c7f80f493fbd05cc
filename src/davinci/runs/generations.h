// Kernels that exist already, as a language model that gives them: so that `bench --generations`
// scores them by the same loop, journal and report as a model's.
//
// A folder holds generations in one or both layouts:
//   level_L_problem_P_sample_S_kernel.py   as KernelBench writes its runs; L and P are those of the
//                                          task set (TaskEntry::level, problem)
//   ID.py, ID/NAME.py                      sample 0 of a task, or several in order of their names;
//                                          ID is the task's id, or what follows its last '/'
// Any other file is no generation; one that ends in .py and fits no task is reported.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"
#include "davinci/task/task_set.h"

namespace davinci::runs {

struct Generations {
  std::map<std::string, std::vector<std::string>> samples;  // source texts by task id, in order
  std::vector<std::string> unmatched;                       // .py files that fit no task
  std::string digest;                                       // SHA-256 over ids and texts
};

// NotFound: no such folder. InvalidArgument: no file fits a task, or two files are one sample.
Result<Generations> ReadGenerations(const std::filesystem::path& folder,
                                    const std::vector<task::TaskEntry>& tasks);

// Answers the first turn of rollout r of a task with its sample r.
std::unique_ptr<llm::Backbone> GenerationsBackbone(Generations generations);

}  // namespace davinci::runs
