// What `davinci bench` found, task by task and sample by sample: rows of its table, JSON and CSV.
// Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "davinci/report/run_view.h"

namespace davinci::runs {

// One rollout. Its answer is the correct turn with the largest sure speedup, else the last turn.
struct BenchSample {
  RolloutId id;
  int turns = 0;
  std::string end;                    // TrajectoryEndName
  std::string problem;                // why it ended early
  int answer = 0;                     // turn from 1; 0: no turn was judged
  std::optional<Evaluation> verdict;  // of the answer
  bool only_pytorch = false;          // the answer has no kernel of its own
  bool correct() const { return verdict && verdict->outcome == Outcome::kOk; }
};

struct BenchTask {
  std::string task;
  std::optional<int> level;
  std::vector<BenchSample> samples;
  int num_correct = 0;
  int num_only_pytorch = 0;         // of the correct ones
  const BenchSample* best() const;  // the correct one with the largest sure speedup; may be null
  std::string scaled;               // sizes that --shrink set, or ""
  std::string remark;
  LlmCost cost;
  double judge_seconds = 0;
};

std::vector<BenchTask> BenchTasksOf(const report::RunView& view);

// An object per task; its "results" hold an object per sample.
nlohmann::json ToJson(const std::vector<BenchTask>& tasks);
// A line per sample, after a line of names. Texts are quoted as RFC 4180 has it.
std::string SamplesCsv(const std::vector<BenchTask>& tasks);

// The comment that marks sizes of --shrink in a task's sidecar, and what stands behind it.
inline constexpr std::string_view kScaledComment = "# scaled down for this machine: ";

}  // namespace davinci::runs
