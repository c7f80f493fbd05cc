#include "davinci/score/estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/stats/summary.h"

namespace davinci::score {
namespace {

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double Finish(double sum, double weight, Scale scale) {
  return scale == Scale::kGeometric ? std::exp(sum / weight) : sum / weight;
}

}  // namespace

std::optional<Estimate> EstimateOver(std::span<const Contribution> tasks, Scale scale,
                                     const BootstrapOptions& options) {
  std::vector<TaskContribution> whole;
  for (const Contribution& task : tasks) whole.push_back({task, {}});
  return EstimateOverSamples(whole, scale, options);
}

std::optional<Estimate> EstimateOverSamples(std::span<const TaskContribution> tasks, Scale scale,
                                            const BootstrapOptions& options) {
  std::vector<const TaskContribution*> used;
  for (const TaskContribution& task : tasks)
    if (task.whole.weight > 0) used.push_back(&task);
  if (used.empty()) return std::nullopt;

  double sum = 0;
  double weight = 0;
  for (const TaskContribution* task : used) {
    sum += task->whole.sum;
    weight += task->whole.weight;
  }
  Estimate estimate{Finish(sum, weight, scale), {}, {}, static_cast<int>(used.size())};
  const auto n = static_cast<double>(used.size());
  const auto same_everywhere = [&](auto same) {
    return std::all_of(used.begin(), used.end(), [&](const TaskContribution* task) {
      return same(task->whole) &&
             std::all_of(task->redrawn.begin(), task->redrawn.end(),
                         [&](const Contribution& c) { return c.weight <= 0 || same(c); });
    });
  };
  if (used.size() >= 2 && scale == Scale::kRate) {
    if (same_everywhere([](const Contribution& c) { return c.sum == 0; })) {
      estimate.low = 0;
      estimate.high = 1 - std::pow(0.025, 1 / n);
      return estimate;
    }
    if (same_everywhere([](const Contribution& c) { return c.sum == c.weight; })) {
      estimate.low = std::pow(0.025, 1 / n);
      estimate.high = 1;
      return estimate;
    }
  }
  // Ratios that agree to the last bits agree.
  const double first = used[0]->whole.sum / used[0]->whole.weight;
  if (same_everywhere([&](const Contribution& c) {
        return std::abs(c.sum / c.weight - first) <= 1e-12 * std::max(1.0, std::abs(first));
      }))
    return estimate;
  SplitMix64 rng(options.seed);
  std::vector<double> values;
  for (int i = 0; i < options.num_resamples; ++i) {
    sum = 0;
    weight = 0;
    for (size_t j = 0; j < used.size(); ++j) {
      const TaskContribution& task = *used[rng.Below(used.size())];
      const Contribution& drawn =
          task.redrawn.empty() ? task.whole : task.redrawn[rng.Below(task.redrawn.size())];
      sum += drawn.sum;
      weight += drawn.weight;
    }
    // A drawing of samples may leave nothing that counts (no correct answer).
    if (weight > 0) values.push_back(Finish(sum, weight, scale));
  }
  if (values.empty()) return estimate;
  if (used.size() < 2) {
    estimate.low = stats::Percentile(values, 0.025);
    estimate.high = stats::Percentile(values, 0.975);
    return estimate;
  }
  const double z = std::sqrt(n / (n - 1)) * stats::StudentT975(static_cast<int>(used.size()) - 1);
  const double tail = NormalCdf(-z);
  estimate.low = stats::Percentile(values, tail);
  estimate.high = stats::Percentile(values, 1 - tail);
  return estimate;
}

}  // namespace davinci::score
