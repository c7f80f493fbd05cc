// Sequential scaling: an iteration of T turns ends, R of its turns are carried over, T - R new ones
// follow. Which turns are carried over? Published rules, pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::search {

enum class WindowRule {
  kLast,  // the last R turns
  kBest,  // the R consecutive turns with the largest sum of the metric; the first best wins
  kTop,   // the R best single turns of all so far, in the order they were made
};
enum class WindowMetric {
  kReward,
  kPerformance,         // the speedup's median, 0 when incorrect
  kCoverage,            // the candidate's own share of device time
  kCoverageThenReward,  // lexicographic: sums of coverage first, then of reward
};
std::optional<WindowRule> ParseWindowRule(std::string_view name);      // last, best, top
std::optional<WindowMetric> ParseWindowMetric(std::string_view name);  // reward, performance,
                                                                       // coverage,
                                                                       // coverage_then_reward

struct TurnScore {
  double reward = 0;
  double performance = 0;
  double coverage = 0;
};

// Indices into `turns`, ascending. All of them when there are no more than `keep`.
std::vector<size_t> CarriedTurns(std::span<const TurnScore> turns, size_t keep, WindowRule rule,
                                 WindowMetric metric);

// Turns generated in all: T + (I - 1) (T - R). InvalidArgument unless T >= 1, I >= 1 and, with
// I > 1, 0 <= R < T.
Result<int> TotalTurns(int turns_per_iteration, int num_iterations, int carried_turns);

}  // namespace davinci::search
