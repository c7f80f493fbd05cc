// Examples of supervised fine-tuning from the journal of a run (optimize, bench, collect, train).
//
// The run is replayed step by step (rollout/step.h): the same program that made it says what its
// turns, choices, proposals and experiments were, so nothing is read off the journal in a second
// way. Prompts are the requests that were sent, from the run's content store. Nothing is judged,
// no model is asked, nothing is written into the run.
//
// Rules that leave examples out, besides those of sftdata/trajectory_filter.h:
//   bad_schema    the reply is no legal call of the tool, or names what was not shown
//   not_helpful   selections: the mean over the scheme's rollouts of their best speedup (0: none
//                 correct) is below min_selection_uplift times that of the null scheme of the task
//   no_skill      summaries: the call proposes nothing
//   refused       summaries: no proposal was worth an experiment
//   not_admitted  summaries: no experiment admitted a proposal
// A summary keeps the proposals that passed; the others are not part of what is trained.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "davinci/base/status.h"
#include "davinci/sftdata/row.h"
#include "davinci/sftdata/trajectory_filter.h"

namespace davinci::dataset {

struct ExampleRules {
  sftdata::TrajectoryRules trajectory;
  double min_selection_uplift = 1;  // 0: every legal selection
};

struct ExampleCounts {
  int64_t tasks = 0;
  int64_t trajectories = 0;
  int64_t turns = 0;
  int64_t selections = 0;
  int64_t summaries = 0;
  int64_t rows = 0;
  std::map<std::string, int64_t> left_out;  // by "policy/loop", "selection/bad_schema", …
};
sftdata::OrderedJson ToJson(const ExampleCounts& counts);

// Value of the null scheme by task, of the runs read so far: what selections of later runs, which
// have no null scheme of their own, are compared with.
using NullValues = std::map<std::string, double>;

// Calls `take` with every example, in the order of steps and tasks. Holds one step of a run at a
// time (runs without learning: kTasksAtOnce tasks). NotFound: `folder` holds no run.
inline constexpr size_t kTasksAtOnce = 256;
Status ExamplesOfRun(const std::filesystem::path& folder, const ExampleRules& rules,
                     NullValues* null_values, ExampleCounts* counts,
                     const std::function<Status(sftdata::Row)>& take);

}  // namespace davinci::dataset
