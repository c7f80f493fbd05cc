#include "davinci/search/turn_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace davinci::search {
namespace {

// What is compared, most important first.
std::array<double, 2> Key(const TurnScore& turn, WindowMetric metric) {
  switch (metric) {
    case WindowMetric::kReward:
      return {turn.reward, 0};
    case WindowMetric::kPerformance:
      return {turn.performance, 0};
    case WindowMetric::kCoverage:
      return {turn.coverage, 0};
    case WindowMetric::kCoverageThenReward:
      return {turn.coverage, turn.reward};
  }
  return {};
}

std::vector<size_t> Consecutive(size_t first, size_t count) {
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), first);
  return indices;
}

}  // namespace

std::optional<WindowRule> ParseWindowRule(std::string_view name) {
  if (name == "last") return WindowRule::kLast;
  if (name == "best") return WindowRule::kBest;
  if (name == "top") return WindowRule::kTop;
  return std::nullopt;
}

std::optional<WindowMetric> ParseWindowMetric(std::string_view name) {
  if (name == "reward") return WindowMetric::kReward;
  if (name == "performance") return WindowMetric::kPerformance;
  if (name == "coverage") return WindowMetric::kCoverage;
  if (name == "coverage_then_reward") return WindowMetric::kCoverageThenReward;
  return std::nullopt;
}

std::vector<size_t> CarriedTurns(std::span<const TurnScore> turns, size_t keep, WindowRule rule,
                                 WindowMetric metric) {
  if (turns.size() <= keep) return Consecutive(0, turns.size());
  if (keep == 0) return {};
  switch (rule) {
    case WindowRule::kLast:
      return Consecutive(turns.size() - keep, keep);
    case WindowRule::kBest: {
      size_t best_start = 0;
      std::array<double, 2> best_sum{};
      for (size_t start = 0; start + keep <= turns.size(); ++start) {
        std::array<double, 2> sum{};
        for (const TurnScore& turn : turns.subspan(start, keep)) {
          const auto key = Key(turn, metric);
          for (size_t i = 0; i < sum.size(); ++i) sum[i] += key[i];
        }
        if (start == 0 || sum > best_sum) {
          best_start = start;
          best_sum = sum;
        }
      }
      return Consecutive(best_start, keep);
    }
    case WindowRule::kTop: {
      std::vector<size_t> order = Consecutive(0, turns.size());
      std::ranges::stable_sort(
          order, [&](size_t a, size_t b) { return Key(turns[a], metric) > Key(turns[b], metric); });
      order.resize(keep);
      std::ranges::sort(order);
      return order;
    }
  }
  return {};
}

Result<int> TotalTurns(int turns_per_iteration, int num_iterations, int carried_turns) {
  if (turns_per_iteration < 1 || num_iterations < 1)
    return InvalidArgument("sequential scaling needs at least one turn and one iteration");
  if (carried_turns < 0 || (num_iterations > 1 && carried_turns >= turns_per_iteration))
    return InvalidArgument(
        fmt::format("{} carried turns of {} per iteration leave nothing to generate; carry fewer",
                    carried_turns, turns_per_iteration));
  return turns_per_iteration + (num_iterations - 1) * (turns_per_iteration - carried_turns);
}

}  // namespace davinci::search
