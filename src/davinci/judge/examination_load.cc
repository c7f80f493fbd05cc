// What other work on the machine does to calls on the cpu target.
//
// A call of 1 ms fits between two preemptions and one of 3 ms does not, so on a busy machine the
// median of all calls favours the faster side. The kernel accounts how long each thread was ready
// to run and had no core (/proc/…/schedstat):
//
//   undisturbed   all threads together waited no longer than waking them costs
//   least         of a disturbed call, the time it took at least: its wall time less all waits, and
//                 no less than its CPU time spread over its threads
//
// Speedups come from undisturbed calls where each side has enough of them, else from all calls,
// with an interval that holds both extremes: nothing was held up, or all waits were other
// programs'. A candidate whose threads wait for each other gains nothing by it: disturbed calls
// count in full at the low end, and in the mean of all calls by their CPU time.

#include <algorithm>
#include <vector>

#include "davinci/judge/examination.h"
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

}  // namespace

void Examination::LearnWaits() {
  trial_.costs.usual_wait_ns = 0;
  for (CallResult TimedPair::*side : {&TimedPair::baseline, &TimedPair::candidate}) {
    for (int launch = 0; launch < static_cast<int>(trial_.launches.parked.size()); ++launch) {
      std::vector<double> waits;
      std::vector<double> walls;
      for (const TimedPair& pair : trial_.pairs.record) {
        if (pair.launch != launch) continue;
        waits.push_back(static_cast<double>((pair.*side).cores.waited_ns));
        walls.push_back(static_cast<double>((pair.*side).wall_ns));
      }
      if (waits.empty()) continue;
      const double most =
          kUsualShare * stats::Percentile(walls, 0.1) + kWakeNs * trial_.context.threads;
      trial_.costs.usual_wait_ns =
          std::max(trial_.costs.usual_wait_ns,
                   static_cast<int64_t>(std::min(stats::Percentile(waits, 0.1), most)));
    }
  }
}

bool Examination::IsUndisturbed(const CallResult& call) const {
  const auto slack = static_cast<int64_t>(kSlackShare * static_cast<double>(call.wall_ns));
  return call.cores.waited_ns <= kUsualSpread * trial_.costs.usual_wait_ns + slack + kWakeNs;
}

double Examination::LeastSeconds(const CallResult& call) const {
  const double record = RecordSeconds(call);
  if (IsUndisturbed(call)) return record;
  const double waited =
      1e-9 * static_cast<double>(call.cores.waited_ns - trial_.costs.usual_wait_ns);
  const double by_cores =
      1e-9 * static_cast<double>(call.cores.ran_ns) / std::max(trial_.context.threads, 1);
  return std::min(record, std::max({record - waited, by_cores, 1e-9}));
}

std::vector<stats::PairedSample> Examination::HostSamples() {
  struct Calls {
    std::vector<double> baseline, candidate;
    size_t fewer() const { return std::min(baseline.size(), candidate.size()); }
  };
  std::vector<Calls> undisturbed(trial_.launches.parked.size());
  for (const TimedPair& pair : trial_.pairs.record) {
    Calls& calls = undisturbed[static_cast<size_t>(pair.launch)];
    if (IsUndisturbed(pair.baseline)) calls.baseline.push_back(RecordSeconds(pair.baseline));
    if (IsUndisturbed(pair.candidate))
      calls.candidate.push_back(RecordSeconds(pair.candidate) + trial_.arming.seconds);
  }
  size_t of_baseline = 0;
  size_t of_candidate = 0;
  size_t usable = 0;
  for (const Calls& calls : undisturbed) {
    of_baseline += calls.baseline.size();
    of_candidate += calls.candidate.size();
    usable += calls.fewer();
  }
  trial_.report.evidence.undisturbed_calls = {of_baseline, of_candidate,
                                              trial_.pairs.record.size()};
  trial_.costs.undisturbed = usable >= static_cast<size_t>(trial_.protocol.min_pairs);
  std::vector<stats::PairedSample> samples;
  if (!trial_.costs.undisturbed || usable == trial_.pairs.record.size()) {
    for (const TimedPair& pair : trial_.pairs.record)
      samples.push_back({RecordSeconds(pair.baseline),
                         RecordSeconds(pair.candidate) + trial_.arming.seconds, pair.launch});
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

stats::PairedRatio Examination::WithinLoad(const stats::PairedRatio& ratio,
                                           const stats::PairedRatioOptions& options) {
  if (trial_.costs.undisturbed) return ratio;
  std::vector<stats::PairedSample> slow;
  std::vector<stats::PairedSample> fast;
  for (const TimedPair& pair : trial_.pairs.record) {
    slow.push_back({LeastSeconds(pair.baseline),
                    RecordSeconds(pair.candidate) + trial_.arming.seconds, pair.launch});
    fast.push_back({RecordSeconds(pair.baseline),
                    LeastSeconds(pair.candidate) + trial_.arming.seconds, pair.launch});
  }
  const auto low = stats::ComputePairedRatio(slow, options);
  const auto high = stats::ComputePairedRatio(fast, options);
  if (!low.ok() || !high.ok()) return ratio;
  return stats::WithBounds(ratio, *low, *high, options.band);
}

}  // namespace davinci::judge
