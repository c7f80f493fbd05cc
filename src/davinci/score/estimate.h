// A number over tasks, and how sure it is.
//
// Every metric is a ratio of sums over tasks: each task contributes `sum` and `weight`. The mean of
// per-task rates has weight 1 per task; a rate over all samples has the number of samples as
// weight; a geometric mean sums logarithms and is exponentiated at the end.
//
// Interval: 95 % percentile bootstrap over tasks (tasks are drawn with replacement, a task's
// samples stay together, because they are not independent), with the percentiles widened for few
// tasks as in judge/stats/paired_ratio.h ("expanded percentile interval"). Where every task
// contributes the same 0 or the same 1 to a rate, resampling sees no spread, and the exact binomial
// (Clopper-Pearson) bound takes its place. Fewer than two tasks, or tasks that agree on any other
// value, have no interval: nothing was seen of the spread.
//
// Pure and deterministic: the same contributions and seed give the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace davinci::score {

struct Contribution {
  double sum = 0;
  double weight = 0;  // 0: the metric is not defined for this task
};

enum class Scale {
  kRate,       // contributions in [0, weight]
  kMean,       // any number
  kGeometric,  // sums of logarithms
};

struct BootstrapOptions {
  uint64_t seed = 1;
  int num_resamples = 2000;
};

struct Estimate {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
  int num_tasks = 0;  // with a weight
};

// Nothing when no task has a weight.
std::optional<Estimate> EstimateOver(std::span<const Contribution> tasks, Scale scale,
                                     const BootstrapOptions& options = {});

}  // namespace davinci::score
