// A number over tasks, and how sure it is.
//
// Every metric is a ratio of sums over tasks: each task contributes `sum` and `weight`. The mean of
// per-task rates has weight 1 per task; a rate over all samples has the number of samples as
// weight; a geometric mean sums logarithms and is exponentiated at the end.
//
// Interval: 95 % percentile bootstrap over tasks and over samples: tasks are drawn with
// replacement, and each drawn task stands with a resampling of its samples (also with replacement),
// where it has several. The percentiles are widened for few tasks as in stats/paired_ratio.h
// ("expanded percentile interval"); with one task the interval is over its samples alone. Where
// every task contributes the same 0 or the same 1 to a rate, resampling sees no spread, and the
// exact binomial (Clopper-Pearson) bound takes its place. Where neither tasks nor samples differ on
// any other value there is no interval: nothing was seen of the spread.
//
// Pure and deterministic: the same contributions and seed give the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

// A task: its contribution, and what it contributes when its samples are drawn anew (one entry per
// drawing; empty with one sample).
struct TaskContribution {
  Contribution whole;
  std::vector<Contribution> redrawn;
};
inline constexpr int kSampleDrawings = 20;

// Nothing when no task has a weight.
std::optional<Estimate> EstimateOverSamples(std::span<const TaskContribution> tasks, Scale scale,
                                            const BootstrapOptions& options = {});
// Without samples.
std::optional<Estimate> EstimateOver(std::span<const Contribution> tasks, Scale scale,
                                     const BootstrapOptions& options = {});

}  // namespace davinci::score
