#include "davinci/agent/sequential_rule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace davinci::agent {
namespace {

// 99.5 % quantiles of Student's t with 1, 2, … degrees of freedom: the level of a look.
constexpr std::array<double, 2 * kMaxPairs - 2> kLookQuantile = {
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106,
    3.055,  3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819};

constexpr double kRaised = 0.0157;
constexpr double kLowered = 0.0626;

struct Cell {
  int count = 0;
  double sum = 0;
  double mean() const { return sum / count; }
};

void MeasureRatio(const PairedData& data, TrialVerdict* verdict) {
  std::map<int, std::array<Cell, 2>> cells;  // by task: without, with
  std::array<int, 2> counts = {0, 0};
  for (const SpeedSample& sample : data.speeds) {
    Cell& cell = cells[sample.task][sample.with_skill ? 1 : 0];
    ++cell.count;
    cell.sum += sample.log_speedup;
  }
  // A task that only one side has a kernel of says nothing about the difference.
  std::erase_if(cells, [](const auto& entry) {
    return entry.second[0].count == 0 || entry.second[1].count == 0;
  });
  double weights = 0;
  double weighted = 0;
  for (const auto& [task, sides] : cells) {
    const double n0 = sides[0].count;
    const double n1 = sides[1].count;
    const double weight = n0 * n1 / (n0 + n1);
    weights += weight;
    weighted += weight * (sides[1].mean() - sides[0].mean());
    counts[0] += sides[0].count;
    counts[1] += sides[1].count;
  }
  if (counts[0] < kMinCorrect || counts[1] < kMinCorrect) return;
  double squares = 0;
  for (const SpeedSample& sample : data.speeds) {
    const auto found = cells.find(sample.task);
    if (found == cells.end()) continue;
    const double residual = sample.log_speedup - found->second[sample.with_skill ? 1 : 0].mean();
    squares += residual * residual;
  }
  const auto freedom = static_cast<size_t>(counts[0] + counts[1]) - 2 * cells.size();
  if (freedom < 1) return;
  const double quantile = kLookQuantile[std::min(freedom, kLookQuantile.size()) - 1];
  const double sampling = quantile * std::sqrt(squares / static_cast<double>(freedom) / weights);
  verdict->has_ratio = true;
  verdict->mean = weighted / weights;
  verdict->low = verdict->mean - std::hypot(sampling, data.measured_low);
  verdict->high = verdict->mean + std::hypot(sampling, data.measured_high);
}

}  // namespace

double SignTestUpper(int successes, int failures) {
  const int n = successes + failures;
  double term = std::ldexp(1.0, -n);  // of Bin(n, 1/2) at 0
  double tail = 0;
  for (int k = 0; k <= n; ++k) {
    if (k >= successes) tail += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return std::min(tail, 1.0);
}

TrialVerdict LookAt(const PairedData& data, double log_uplift, int max_pairs) {
  TrialVerdict verdict;
  MeasureRatio(data, &verdict);
  const auto decide = [&](TrialState state, TrialReason reason) {
    verdict.state = state;
    verdict.reason = reason;
    return verdict;
  };
  if (data.num_pairs < kMinPairs) return verdict;
  const double lowered = SignTestUpper(data.lost, data.gained);
  if (lowered <= kLowered) return decide(TrialState::kRefuse, TrialReason::kLowersCorrectness);
  if (verdict.has_ratio && verdict.high < 0)
    return decide(TrialState::kRefuse, TrialReason::kSlower);
  const bool last = data.num_pairs >= max_pairs;
  const bool faster = verdict.has_ratio && verdict.low >= log_uplift;
  if (data.lost > data.gained) {
    if (last) return decide(TrialState::kRefuse, TrialReason::kMayLowerCorrectness);
  } else {
    if (faster) return decide(TrialState::kAdmit, TrialReason::kFaster);
    if (SignTestUpper(data.gained, data.lost) <= kRaised)
      return decide(TrialState::kAdmit, TrialReason::kMoreOftenCorrect);
  }
  if (last) return decide(TrialState::kRefuse, TrialReason::kOutOfPairs);
  const bool upward = (verdict.has_ratio && verdict.mean > log_uplift) || data.gained > data.lost;
  if (data.num_pairs >= kFutilePairs && verdict.has_ratio && !upward)
    return decide(TrialState::kRefuse, TrialReason::kFutile);
  return verdict;
}

}  // namespace davinci::agent
