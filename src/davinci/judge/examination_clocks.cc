// Which times count: the time of record, what happens between calls, and whether the clocks and the
// device tell one story.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "davinci/judge/examination.h"
#include "davinci/stats/clock_agreement.h"
#include "davinci/stats/summary.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// A runner whose own clock reads less than this share of ours is not measuring what we measure.
constexpr double kContradiction = 0.6;
// Gap = outer clock less runner's clock and less the wait for a core, of one call. A candidate
// whose gap is below the larger of these two contradicts nothing: seconds (a core that a virtual
// machine has let sleep wakes up to two hundred microseconds late, for one of two processes in
// every call), and a multiple of the baseline's gap in the same pairs (its 90th percentile: what
// this machine, as busy as it is, puts between the clocks of a process that is ours).
constexpr double kContradictionSeconds = 2.5e-4;
constexpr double kHonestGap = 3;
// Allowed excess arming time per call: the largest of seconds, a multiple of what arming the
// baseline takes on this machine (its 90th percentile), and a share of the call.
constexpr double kArmSeconds = 2.5e-4;
constexpr double kArmOfBaseline = 1;
constexpr double kArmShare = 0.1;
// … and so many times as much until all of them had stopped.
constexpr double kLateStop = 3;
// CPU time while a process stands, of a median call, seconds.
constexpr double kBookedLate = 2e-5;
// Standard errors by which the middle and the mean over all pairs may be off.
constexpr double kArmNoise = 3;
// The same where excess is charged: the interval reaches from all of it to none of it.
constexpr double kChargeNoise = 1;
// The part of it that is not charged.
constexpr double kFreeArmSeconds = 3e-5;
constexpr double kFreeArmShare = 0.02;
// A factor below the interval from which the time of all calls together tells another story.
constexpr double kUneven = 1.1;
// One disturbed call of a few milliseconds among short ones does no more than this to their mean.
constexpr double kUnevenSeconds = 2e-4;
// Writing inputs takes longer by this much when the device has just been idle.
constexpr double kPublishSeconds = 1e-4;
// CPU time after DONE that an honest process may need to go back to sleep.
constexpr int64_t kTailCpuNs = 50'000;
// A page of an output that comes into being when the judge reads it, not when the candidate writes
// it. Measured on two cores of a virtual machine: 490 to 980 ns for a first read, 1,500 to 4,200
// for a first write; the least of these, since a slower machine may not turn an honest kernel away.
constexpr int64_t kUnwrittenPageNs = 500;
// The protocol's cost of a call, believed at most.
constexpr int64_t kMaxOverheadNs = 2'000'000;

}  // namespace

double Examination::RecordSeconds(const CallResult& call) const {
  int64_t outer = call.wall_ns - trial_.costs.overhead_ns;
  if (call.tail_cpu_ns > trial_.costs.tail_cpu_ns + kTailCpuNs + call.wall_ns / 20)
    outer += call.freeze_ns;
  outer += kUnwrittenPageNs * call.unwritten_pages;
  const int64_t claimed = std::min(call.inner_ns, call.wall_ns);
  return 1e-9 * static_cast<double>(std::max({outer, claimed, int64_t{1}}));
}

Examination::Average Examination::OnAverage() const {
  std::vector<double> baseline;
  std::vector<double> candidate;
  if (trial_.job.target == Target::kCuda)
    for (const stats::PairedSample& sample : SamplesOfRecord()) {
      baseline.push_back(sample.baseline_seconds);
      candidate.push_back(sample.candidate_seconds);
    }
  for (const auto* pairs : {&trial_.pairs.record, &trial_.pairs.stress})
    for (const TimedPair& pair : *pairs) {
      if (trial_.job.target == Target::kCuda) break;
      baseline.push_back(LeastSeconds(pair.baseline));
      candidate.push_back(LeastSeconds(pair.candidate) + trial_.arming.seconds);
    }
  // As many on either side: means compare as sums do.
  const auto without_worst = [](const std::vector<double>& v) {
    return stats::Mean(v) - *std::max_element(v.begin(), v.end()) / static_cast<double>(v.size());
  };
  return {stats::Mean(baseline) / stats::Mean(candidate),
          without_worst(baseline) / without_worst(candidate), stats::Mean(candidate)};
}

bool Examination::IsUneven(const Average& average, double low) const {
  if (average.ratio_without_worst * kUneven < low) return true;
  return average.ratio * kUneven < low &&
         average.candidate_seconds * (1 - average.ratio / low) > kUnevenSeconds;
}

std::vector<stats::PairedSample> Examination::Samples() {
  // What the protocol itself costs is measured on the baseline, whose process is ours: outer clock
  // less inner clock. A low quantile, because on a busy machine the difference is mostly waiting
  // for a core, which a call cannot be credited with.
  std::vector<double> overheads;
  std::vector<double> tails;
  for (const TimedPair& pair : trial_.pairs.record) {
    overheads.push_back(static_cast<double>(pair.baseline.wall_ns - pair.baseline.inner_ns));
    tails.push_back(static_cast<double>(pair.baseline.tail_cpu_ns));
  }
  LearnWaits();
  trial_.costs.tail_cpu_ns = static_cast<int64_t>(stats::Percentile(tails, 0.9));
  trial_.costs.overhead_ns = std::clamp(static_cast<int64_t>(stats::Percentile(overheads, 0.1)),
                                        int64_t{0}, kMaxOverheadNs);
  if (trial_.job.target == Target::kCuda) {
    ChargeWindows();
    return SamplesOfRecord();
  }
  std::vector<double> own;
  for (const TimedPair& pair : trial_.pairs.record) own.push_back(RecordSeconds(pair.candidate));
  if (trial_.job.target == Target::kCpu) {
    const double wall = UsualArmExcess(&Arming::wall_ns, 0) - trial_.arming.waking.wall_seconds;
    const double spent = std::max(
        ArmExcess(&Arming::main_cpu_ns) - trial_.arming.waking.main_cpu_seconds,
        UsualArmExcess(&Arming::wall_ns, kChargeNoise) - trial_.arming.waking.wall_seconds);
    const double allowed = AllowedArming(stats::Median(own));
    // Of what other threads do more than is allowed: a busy machine lets them spin, or stop late,
    // which is no reason to refuse.
    const double free = kFreeArmSeconds + kFreeArmShare * stats::Median(own);
    trial_.arming.seconds = std::max({0.0, spent - free, ArmExcess(&Arming::answered_ns) - allowed,
                                      ArmExcess(&Arming::stopped_ns) - kLateStop * allowed});
    trial_.arming.doubt = std::max(0.0, wall - free - trial_.arming.seconds);
  }
  return HostSamples();
}

// Arming lets the last outputs go and makes the arguments; inputs do not exist yet. What a
// candidate does there beyond what the baseline needs, it does off the clock: that is charged on
// cpu, and refused on cuda.
std::vector<double> Examination::ArmExcesses(int64_t Arming::*spent) const {
  std::vector<double> excess;
  for (const TimedPair& pair : trial_.pairs.record)
    excess.push_back(
        1e-9 * static_cast<double>(pair.candidate.arming.*spent - pair.baseline.arming.*spent));
  return excess;
}

// Of CPU time: much work in few of them is as much as a little in each.
double Examination::ArmExcess(int64_t Arming::*spent) const {
  std::vector<double> usual;
  for (const TimedPair& pair : trial_.pairs.record)
    usual.push_back(1e-9 * static_cast<double>(pair.baseline.arming.*spent));
  return std::max(UsualArmExcess(spent, kArmNoise),
                  stats::Mean(ArmExcesses(spent)) - kArmNoise * stats::StandardError(usual));
}

// In the middle, which is known better than the mean on a busy machine.
double Examination::UsualArmExcess(int64_t Arming::*spent, double noise) const {
  const std::vector<double> excess = ArmExcesses(spent);
  return stats::Median(excess) - noise * stats::MedianStandardError(excess);
}

double Examination::AllowedArming(double call_seconds) const {
  std::vector<double> usual;
  for (const TimedPair& pair : trial_.pairs.record)
    usual.push_back(1e-9 * static_cast<double>(pair.baseline.arming.stopped_ns));
  return std::max(kArmSeconds, kArmOfBaseline * stats::Percentile(usual, 0.9)) +
         trial_.arming.waking.cpu_seconds + kArmShare * call_seconds;
}

std::optional<Failure> Examination::CheckArming(double call_seconds) {
  const double most = ArmExcess(&Arming::answered_ns);
  trial_.report.evidence.clocks.value().arm_excess_ms = 1e3 * most;
  trial_.report.evidence.clocks.value().arm_charged_ms = 1e3 * trial_.arming.seconds;
  // A busy machine stops threads late; one that is in the kernel works until then.
  const double stopped = ArmExcess(&Arming::stopped_ns);
  const double allowed = AllowedArming(call_seconds);
  // On cpu all of it is charged, and what gains nothing need not be refused.
  if (trial_.job.target == Target::kCpu || (most <= allowed && stopped <= kLateStop * allowed))
    return std::nullopt;
  return Broken(Rule::kWorkBetweenCalls,
                fmt::format("the candidate took {:.3f} ms longer than the baseline between "
                            "two calls, while its last outputs were freed: work belongs into "
                            "forward",
                            1e3 * std::max(most, stopped)));
}

// The oracle is the first on the device after a runner, and it takes longer there while other
// work is under way: after DONE, or after arming, when no inputs exist yet. Arming comes
// before the first turn of a pair only.
std::optional<Failure> Examination::CheckIdleDevice(double call_seconds) {
  std::vector<double> settle[2];
  std::vector<double> publish[2];
  for (const TimedPair& pair : trial_.pairs.record) {
    settle[0].push_back(1e-9 * static_cast<double>(pair.candidate.settle_ns));
    settle[1].push_back(1e-9 * static_cast<double>(pair.baseline.settle_ns));
    for (int turn : {0, 1})
      publish[turn].push_back(1e-9 * static_cast<double>(pair.publish_ns[turn]));
  }
  const auto milliseconds = [](const std::vector<double>(&seconds)[2]) {
    return BothMs{1e3 * stats::Median(seconds[0]), 1e3 * stats::Median(seconds[1])};
  };
  trial_.report.evidence.clocks.value().settle_ms = milliseconds(settle);
  trial_.report.evidence.clocks.value().publish_ms = milliseconds(publish);
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

std::optional<Failure> Examination::CheckClocks() {
  std::vector<double> outer;
  std::vector<double> awake;
  std::vector<double> inner;
  std::vector<double> cpu;
  std::vector<double> outside;
  std::vector<double> usual_outside;
  std::vector<double> noise;
  std::vector<double> usual_gap;
  for (const TimedPair& pair : trial_.pairs.record) {
    const auto seconds = [](int64_t ns) { return 1e-9 * static_cast<double>(ns); };
    // The protocol's cost is one number for all calls; a lucky call may have cost less than that.
    outer.push_back(seconds(std::max(pair.candidate.wall_ns - trial_.costs.overhead_ns,
                                     std::min(pair.candidate.inner_ns, pair.candidate.wall_ns))));
    // Waiting for a core lies between the two clocks and is no sign of a lie.
    const int64_t gap = pair.candidate.wall_ns - trial_.costs.overhead_ns - pair.candidate.inner_ns;
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
  ClockEvidence& clocks = trial_.report.evidence.clocks.emplace();
  clocks.outer_ms = 1e3 * stats::Median(outer);
  clocks.runner_ms = 1e3 * stats::Median(inner);
  clocks.outer_without_waiting_ms = 1e3 * stats::Median(awake);
  clocks.cpu_ms = 1e3 * stats::Median(cpu);
  clocks.cpu_while_stopped_ms = 1e3 * stats::Median(outside);
  clocks.protocol_overhead_ms = 1e-6 * static_cast<double>(trial_.costs.overhead_ns);
  clocks.protocol_noise_ms = 1e3 * stats::ScaledMad(noise);
  if (auto failure = CheckArming(stats::Median(outer))) return failure;
  const stats::AgreementOptions exact;
  // The kernel books the time of a thread that is just stopping late, the baseline's too.
  if (stats::Median(outside) > exact.absolute_seconds + exact.relative * stats::Median(outer) +
                                   kBookedLate + stats::Percentile(usual_outside, 0.9))
    return WorkedWhileStopped(stats::Median(outside));
  if (trial_.job.target == Target::kCuda)
    if (auto failure = CheckIdleDevice(stats::Median(outer))) return failure;
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
