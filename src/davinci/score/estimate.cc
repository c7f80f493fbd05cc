#include "davinci/score/estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/judge/stats/summary.h"

namespace davinci::score {
namespace {

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double Finish(double sum, double weight, Scale scale) {
  return scale == Scale::kGeometric ? std::exp(sum / weight) : sum / weight;
}

}  // namespace

std::optional<Estimate> EstimateOver(std::span<const Contribution> tasks, Scale scale,
                                     const BootstrapOptions& options) {
  std::vector<Contribution> used;
  for (const Contribution& task : tasks)
    if (task.weight > 0) used.push_back(task);
  if (used.empty()) return std::nullopt;

  double sum = 0;
  double weight = 0;
  for (const Contribution& task : used) {
    sum += task.sum;
    weight += task.weight;
  }
  Estimate estimate{Finish(sum, weight, scale), {}, {}, static_cast<int>(used.size())};
  const auto n = static_cast<double>(used.size());
  if (used.size() < 2) return estimate;

  if (scale == Scale::kRate) {
    const auto all = [&](auto same) { return std::all_of(used.begin(), used.end(), same); };
    if (all([](const Contribution& c) { return c.sum == 0; })) {
      estimate.low = 0;
      estimate.high = 1 - std::pow(0.025, 1 / n);
      return estimate;
    }
    if (all([](const Contribution& c) { return c.sum == c.weight; })) {
      estimate.low = std::pow(0.025, 1 / n);
      estimate.high = 1;
      return estimate;
    }
  }
  // Ratios that agree to the last bits agree.
  const double first = used[0].sum / used[0].weight;
  if (std::all_of(used.begin(), used.end(), [&](const Contribution& c) {
        return std::abs(c.sum / c.weight - first) <= 1e-12 * std::max(1.0, std::abs(first));
      }))
    return estimate;
  SplitMix64 rng(options.seed);
  std::vector<double> values(static_cast<size_t>(options.num_resamples));
  for (double& value : values) {
    sum = 0;
    weight = 0;
    for (size_t i = 0; i < used.size(); ++i) {
      const Contribution& drawn = used[rng.Below(used.size())];
      sum += drawn.sum;
      weight += drawn.weight;
    }
    value = Finish(sum, weight, scale);
  }
  const double z = std::sqrt(n / (n - 1)) * judge::StudentT975(static_cast<int>(used.size()) - 1);
  const double tail = NormalCdf(-z);
  estimate.low = judge::Percentile(values, tail);
  estimate.high = judge::Percentile(values, 1 - tail);
  return estimate;
}

}  // namespace davinci::score
