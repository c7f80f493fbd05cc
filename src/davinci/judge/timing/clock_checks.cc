#include "davinci/judge/timing/clock_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "davinci/judge/check/verify.h"
#include "davinci/judge/timing/arming_excess.h"
#include "davinci/stats/clock_agreement.h"
#include "davinci/stats/summary.h"

namespace davinci::judge {
namespace {

// A runner whose own clock reads less than this share of ours is not measuring what we measure.
constexpr double kContradiction = 0.6;
// Gap = outer clock less runner's clock and less the wait for a core, of one call. A candidate
// whose gap is below the larger of these two contradicts nothing: seconds (a core that a virtual
// machine has let sleep wakes up to two hundred microseconds late, for one of two processes in
// every call), and a multiple of the baseline's gap in the same pairs (its 90th percentile: what
// this machine, as busy as it is, puts between the clocks of a process that is ours).
constexpr double kContradictionSeconds = 2.5e-4;
constexpr double kHonestGap = 3;
// CPU time while a process stands, of a median call, seconds.
constexpr double kBookedLate = 2e-5;
// Writing inputs takes longer by this much when the device has just been idle.
constexpr double kPublishSeconds = 1e-4;

// The oracle is the first on the device after a runner, and it takes longer there while other
// work is under way: after DONE, or after arming, when no inputs exist yet. Arming comes
// before the first turn of a pair only.
std::optional<Failure> CheckIdleDevice(const std::vector<TimedPair>& pairs, ClockEvidence* clocks,
                                       double call_seconds) {
  std::vector<double> settle[2];
  std::vector<double> publish[2];
  for (const TimedPair& pair : pairs) {
    settle[0].push_back(1e-9 * static_cast<double>(pair.candidate.settle_ns));
    settle[1].push_back(1e-9 * static_cast<double>(pair.baseline.settle_ns));
    for (int turn : {0, 1})
      publish[turn].push_back(1e-9 * static_cast<double>(pair.publish_ns[turn]));
  }
  const auto milliseconds = [](const std::vector<double>(&seconds)[2]) {
    return BothMs{1e3 * stats::Median(seconds[0]), 1e3 * stats::Median(seconds[1])};
  };
  clocks->settle_ms = milliseconds(settle);
  clocks->publish_ms = milliseconds(publish);
  const auto excess = [](const std::vector<double>(&seconds)[2]) {
    return stats::Median(seconds[0]) - stats::Median(seconds[1]);
  };
  const auto allowed = [&](const std::vector<double>(&seconds)[2]) {
    return stats::AgreementOptions{}.relative * call_seconds +
           3 * (stats::ScaledMad(seconds[0]) + stats::ScaledMad(seconds[1]));
  };
  if (excess(settle) > stats::AgreementOptions{}.absolute_seconds + allowed(settle)) {
    return Broken(
        Rule::kBusyAfterDone,
        fmt::format("the device was busy for {:.3f} ms longer after the candidate said done than "
                    "after the baseline did",
                    1e3 * excess(settle)));
  }
  if (excess(publish) > kPublishSeconds + allowed(publish)) {
    return Broken(Rule::kBusyBeforeGo,
                  fmt::format("the device was busy for {:.3f} ms before a call began, with what "
                              "the candidate started while its last outputs were freed: work "
                              "belongs into forward",
                              1e3 * excess(publish)));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> CheckClocks(Trial& trial) {
  std::vector<double> outer;
  std::vector<double> awake;
  std::vector<double> inner;
  std::vector<double> cpu;
  std::vector<double> outside;
  std::vector<double> usual_outside;
  std::vector<double> noise;
  std::vector<double> usual_gap;
  for (const TimedPair& pair : trial.pairs.record) {
    const auto seconds = [](int64_t ns) { return 1e-9 * static_cast<double>(ns); };
    // The protocol's cost is one number for all calls; a lucky call may have cost less than that.
    outer.push_back(seconds(std::max(pair.candidate.wall_ns - trial.costs.overhead_ns,
                                     std::min(pair.candidate.inner_ns, pair.candidate.wall_ns))));
    // Waiting for a core lies between the two clocks and is no sign of a lie.
    const int64_t gap = pair.candidate.wall_ns - trial.costs.overhead_ns - pair.candidate.inner_ns;
    const int64_t excused =
        std::clamp(pair.candidate.core_wait_ns, int64_t{0}, std::max(gap, int64_t{0}));
    awake.push_back(outer.back() - seconds(excused));
    inner.push_back(seconds(pair.candidate.inner_ns));
    cpu.push_back(seconds(pair.candidate.cpu_ns));
    outside.push_back(seconds(pair.candidate.outside_cpu_ns));
    usual_outside.push_back(seconds(pair.baseline.outside_cpu_ns));
    const int64_t usual = pair.baseline.wall_ns - pair.baseline.inner_ns;
    noise.push_back(seconds(usual));
    usual_gap.push_back(seconds(std::max(usual - pair.baseline.core_wait_ns, int64_t{0})));
  }
  ClockEvidence& clocks = trial.report.evidence.clocks.emplace();
  clocks.outer_ms = 1e3 * stats::Median(outer);
  clocks.runner_ms = 1e3 * stats::Median(inner);
  clocks.outer_without_waiting_ms = 1e3 * stats::Median(awake);
  clocks.cpu_ms = 1e3 * stats::Median(cpu);
  clocks.cpu_while_stopped_ms = 1e3 * stats::Median(outside);
  clocks.protocol_overhead_ms = 1e-6 * static_cast<double>(trial.costs.overhead_ns);
  clocks.protocol_noise_ms = 1e3 * stats::ScaledMad(noise);
  if (auto failure = CheckArming(trial, stats::Median(outer))) return failure;
  const stats::AgreementOptions exact;
  // The kernel books the time of a thread that is just stopping late, the baseline's too.
  if (stats::Median(outside) > exact.absolute_seconds + exact.relative * stats::Median(outer) +
                                   kBookedLate + stats::Percentile(usual_outside, 0.9))
    return WorkedWhileStopped(stats::Median(outside));
  if (trial.job.target == Target::kCuda)
    if (auto failure = CheckIdleDevice(trial.pairs.record, &trial.report.evidence.clocks.value(),
                                       stats::Median(outer)))
      return failure;
  // The time of record is ours; the runner's own clock is asked only whether it tells a different
  // story. A busy machine makes them differ by the wait for a core, which no rule of 5 % can know,
  // so only a clear contradiction is held against it.
  stats::AgreementOptions options;
  options.absolute_seconds +=
      std::max(stats::Median(noise) - stats::Percentile(noise, 0.1), 3 * stats::ScaledMad(noise));
  const stats::ClockReading readings[] = {
      {"supervisor", stats::Median(awake), stats::ClockRelation::kEqual, 0},
      {"runner", stats::Median(inner), stats::ClockRelation::kEqual, 0}};
  auto agreement = stats::CheckClockAgreement(readings, options);
  if (!agreement.ok()) return Failure{Outcome::kJudgeError, agreement.status().message(), {}};
  clocks.agreement = agreement->evidence;
  if (agreement->agree || stats::Median(inner) > kContradiction * stats::Median(awake) ||
      stats::Median(awake) - stats::Median(inner) <
          std::max(kContradictionSeconds, kHonestGap * stats::Percentile(usual_gap, 0.9)))
    return std::nullopt;
  return Broken(Rule::kClockAgreement, "clocks disagree: " + agreement->evidence);
}

}  // namespace davinci::judge
