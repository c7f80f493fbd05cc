#include "davinci/judge/timing/host_load.h"

#include <algorithm>
#include <vector>

#include "davinci/judge/timing/call_clock.h"
#include "davinci/stats/charges.h"
#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/summary.h"

namespace davinci::judge {
namespace {

// Shares of the wall time of a call: the most that counts as the usual wait, and the wait that an
// undisturbed call may have beyond it.
constexpr double kUsualShare = 0.05;
constexpr double kSlackShare = 0.03;
// A quiet machine's waits lie within a factor of two (0.09 to 0.24 ms of a call of 1 ms).
constexpr int64_t kUsualSpread = 2;
// The same, nanoseconds: waking one thread on a core of a virtual machine.
constexpr int64_t kWakeNs = 20'000;

bool IsUndisturbed(const CallCosts& costs, const CallResult& call) {
  const auto slack = static_cast<int64_t>(kSlackShare * static_cast<double>(call.wall_ns));
  return call.cores.waited_ns <= kUsualSpread * costs.usual_wait_ns + slack + kWakeNs;
}

}  // namespace

void LearnWaits(Trial& trial) {
  trial.costs.usual_wait_ns = 0;
  for (CallResult TimedPair::*side : {&TimedPair::baseline, &TimedPair::candidate}) {
    for (int launch = 0; launch < static_cast<int>(trial.launches.parked.size()); ++launch) {
      std::vector<double> waits;
      std::vector<double> walls;
      for (const TimedPair& pair : trial.pairs.record) {
        if (pair.launch != launch) continue;
        waits.push_back(static_cast<double>((pair.*side).cores.waited_ns));
        walls.push_back(static_cast<double>((pair.*side).wall_ns));
      }
      if (waits.empty()) continue;
      const double most =
          kUsualShare * stats::Percentile(walls, 0.1) + kWakeNs * trial.context.threads;
      trial.costs.usual_wait_ns =
          std::max(trial.costs.usual_wait_ns,
                   static_cast<int64_t>(std::min(stats::Percentile(waits, 0.1), most)));
    }
  }
}

double LeastSeconds(const CallCosts& costs, int threads, const CallResult& call) {
  const double record = RecordSeconds(costs, call);
  if (IsUndisturbed(costs, call)) return record;
  const double waited = 1e-9 * static_cast<double>(call.cores.waited_ns - costs.usual_wait_ns);
  const double by_cores = 1e-9 * static_cast<double>(call.cores.ran_ns) / std::max(threads, 1);
  return std::min(record, std::max({record - waited, by_cores, 1e-9}));
}

std::vector<stats::PairedSample> HostSamples(Trial& trial) {
  struct Calls {
    std::vector<double> baseline, candidate;
    size_t fewer() const { return std::min(baseline.size(), candidate.size()); }
  };
  std::vector<Calls> undisturbed(trial.launches.parked.size());
  for (const TimedPair& pair : trial.pairs.record) {
    Calls& calls = undisturbed[static_cast<size_t>(pair.launch)];
    if (IsUndisturbed(trial.costs, pair.baseline))
      calls.baseline.push_back(RecordSeconds(trial.costs, pair.baseline));
    if (IsUndisturbed(trial.costs, pair.candidate))
      calls.candidate.push_back(RecordSeconds(trial.costs, pair.candidate));
  }
  size_t of_baseline = 0;
  size_t of_candidate = 0;
  size_t usable = 0;
  for (const Calls& calls : undisturbed) {
    of_baseline += calls.baseline.size();
    of_candidate += calls.candidate.size();
    usable += calls.fewer();
  }
  trial.report.evidence.undisturbed_calls = {of_baseline, of_candidate, trial.pairs.record.size()};
  trial.costs.undisturbed = usable >= static_cast<size_t>(trial.protocol.min_pairs);
  std::vector<stats::PairedSample> samples;
  if (!trial.costs.undisturbed || usable == trial.pairs.record.size()) {
    for (const TimedPair& pair : trial.pairs.record)
      samples.push_back({RecordSeconds(trial.costs, pair.baseline),
                         RecordSeconds(trial.costs, pair.candidate), pair.launch});
    return samples;
  }
  // Those of the side that has more are taken evenly, so that both run through the same minutes.
  for (int launch = 0; const Calls& calls : undisturbed) {
    const size_t fewer = calls.fewer() & ~size_t{1};  // whole blocks
    for (size_t i = 0; i < fewer; ++i)
      samples.push_back({calls.baseline[i * calls.baseline.size() / fewer],
                         calls.candidate[i * calls.candidate.size() / fewer], launch});
    ++launch;
  }
  return samples;
}

stats::PairedRatio WithinLoad(Trial& trial, const stats::PairedRatio& ratio,
                              const stats::PairedRatioOptions& options) {
  if (trial.costs.undisturbed) return ratio;
  std::vector<stats::PairedSample> slow;
  std::vector<stats::PairedSample> fast;
  for (const TimedPair& pair : trial.pairs.record) {
    slow.push_back({LeastSeconds(trial.costs, trial.context.threads, pair.baseline),
                    RecordSeconds(trial.costs, pair.candidate), pair.launch});
    fast.push_back({RecordSeconds(trial.costs, pair.baseline),
                    LeastSeconds(trial.costs, trial.context.threads, pair.candidate), pair.launch});
  }
  stats::Charge(trial.charges.record, &slow);
  stats::Charge(trial.charges.record, &fast);
  const auto low = stats::ComputePairedRatio(slow, options);
  const auto high = stats::ComputePairedRatio(fast, options);
  if (!low.ok() || !high.ok()) return ratio;
  return stats::WithBounds(ratio, *low, *high, options.band);
}

}  // namespace davinci::judge
