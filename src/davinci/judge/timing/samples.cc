#include "davinci/judge/timing/samples.h"

#include <algorithm>
#include <vector>

#include "davinci/judge/timing/arming_excess.h"
#include "davinci/judge/timing/host_load.h"
#include "davinci/judge/timing/window_times.h"
#include "davinci/stats/charges.h"
#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/summary.h"

namespace davinci::judge {
namespace {

// A factor below the interval from which the time of all calls together tells another story.
constexpr double kUneven = 1.1;
// One disturbed call of a few milliseconds among short ones does no more than this to their mean.
constexpr double kUnevenSeconds = 2e-4;
// The protocol's cost of a call, believed at most.
constexpr int64_t kMaxOverheadNs = 2'000'000;

}  // namespace

Average OnAverage(const Trial& trial) {
  std::vector<stats::PairedSample> samples;
  if (trial.job.target == Target::kCuda) {
    samples =
        WindowSamples(trial.pairs, trial.windows, trial.pairs.record, trial.windows.full_queue);
  } else {
    for (const auto* pairs : {&trial.pairs.record, &trial.pairs.stress})
      for (const TimedPair& pair : *pairs)
        samples.push_back({LeastSeconds(trial.costs, trial.context.threads, pair.baseline),
                           LeastSeconds(trial.costs, trial.context.threads, pair.candidate)});
  }
  stats::Charge(trial.charges.record, &samples);
  std::vector<double> baseline;
  std::vector<double> candidate;
  for (const stats::PairedSample& sample : samples) {
    baseline.push_back(sample.baseline_seconds);
    candidate.push_back(sample.candidate_seconds);
  }
  // As many on either side: means compare as sums do.
  const auto without_worst = [](const std::vector<double>& v) {
    return stats::Mean(v) - *std::max_element(v.begin(), v.end()) / static_cast<double>(v.size());
  };
  return {stats::Mean(baseline) / stats::Mean(candidate),
          without_worst(baseline) / without_worst(candidate), stats::Mean(candidate)};
}

bool IsUneven(const Average& average, double low) {
  if (average.ratio_without_worst * kUneven < low) return true;
  return average.ratio * kUneven < low &&
         average.candidate_seconds * (1 - average.ratio / low) > kUnevenSeconds;
}

std::vector<stats::PairedSample> LearnSamples(Trial& trial) {
  // What the protocol itself costs is measured on the baseline, whose process is ours: outer clock
  // less inner clock. A low quantile, because on a busy machine the difference is mostly waiting
  // for a core, which a call cannot be credited with.
  std::vector<double> overheads;
  std::vector<double> tails;
  for (const TimedPair& pair : trial.pairs.record) {
    overheads.push_back(static_cast<double>(pair.baseline.wall_ns - pair.baseline.inner_ns));
    tails.push_back(static_cast<double>(pair.baseline.tail_cpu_ns));
  }
  LearnWaits(trial);
  trial.costs.tail_cpu_ns = static_cast<int64_t>(stats::Percentile(tails, 0.9));
  trial.costs.overhead_ns = std::clamp(static_cast<int64_t>(stats::Percentile(overheads, 0.1)),
                                       int64_t{0}, kMaxOverheadNs);
  std::vector<stats::PairedSample> samples;
  if (trial.job.target == Target::kCuda) {
    ChargeWindows(trial);
    samples =
        WindowSamples(trial.pairs, trial.windows, trial.pairs.record, trial.windows.full_queue);
  } else {
    ChargeArming(trial);
    samples = HostSamples(trial);
  }
  stats::Charge(trial.charges.record, &samples);
  return samples;
}

}  // namespace davinci::judge
