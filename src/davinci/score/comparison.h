// Are two runs different? Paired by task: tasks that only one run has are left out and counted.
//
// Per metric and task the difference (second run minus first) of the task's value. Reported: the
// mean difference with a bootstrap interval over tasks (the same draw for both runs), the exact
// two-sided sign test (ties dropped; for rates of one sample per task that is McNemar's test), and
// the sign-flip permutation test of the mean, exact up to 20 tasks that differ, else by
// `num_permutations` seeded flips with the observed one counted.
//
// Two models often write the same code, which is judged for each: what differs then is the clock.
//
// Pure and deterministic.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "davinci/score/protocol.h"

namespace davinci::score {

// P(at least as uneven | fair coin) for `wins` and `losses`; 1 when both are 0.
double SignTest(int wins, int losses);

struct PermutationOptions {
  uint64_t seed = 1;
  int num_permutations = 100'000;
};
// Two-sided p of mean(differences) under random signs; 1 when all are 0.
double SignFlipTest(std::span<const double> differences, const PermutationOptions& options = {});

struct MetricComparison {
  std::string key;
  std::string title;
  Scale scale = Scale::kRate;
  double first = 0;  // over the common tasks
  double second = 0;
  Estimate difference;  // second - first; for kGeometric the ratio second / first
  int better = 0;       // tasks on which the second run is better, worse
  int worse = 0;
  double sign_p = 1;
  double permutation_p = 1;
};

struct RunComparison {
  std::string protocol;
  int num_common = 0;
  int only_first = 0;
  int only_second = 0;
  // Tasks where each attempt of a run is also one of the other; nothing under kJudgedTwice.
  std::optional<int> num_same_code;
  std::vector<MetricComparison> metrics;
};

// What counts where both runs have the same code for a task.
enum class SameCode {
  kJudgedTwice,  // each run's own verdict: the judge may be what is compared
  // One verdict for both, so that such a task is a tie: of two correct and timed ones that with the
  // narrower interval, else the first run's. Verdicts of other protocols or baselines stay apart.
  kOneVerdict,
};

// Metrics that either run does not define are left out; a task counts for a metric when both define
// it there.
RunComparison CompareRuns(const ScoreInput& first, const ScoreInput& second,
                          const Protocol& protocol, SameCode same_code = SameCode::kJudgedTwice,
                          const BootstrapOptions& options = {});
std::string ComparisonTable(const RunComparison& comparison, bool color = false,
                            size_t max_width = 0);
// Schema "davinci.comparison/1".
nlohmann::json ToJson(const RunComparison& comparison);

}  // namespace davinci::score
