#include "davinci/judge/timing/arming_excess.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "davinci/judge/timing/call_clock.h"
#include "davinci/stats/summary.h"

namespace davinci::judge {
namespace {

// Allowed excess arming time per call: the largest of seconds, a multiple of what arming the
// baseline takes on this machine (its 90th percentile), and a share of the call.
constexpr double kArmSeconds = 2.5e-4;
constexpr double kArmOfBaseline = 1;
constexpr double kArmShare = 0.1;
// … and so many times as much until all of them had stopped.
constexpr double kLateStop = 3;
// Standard errors by which the middle and the mean over all pairs may be off.
constexpr double kArmNoise = 3;
// The same where excess is charged: the interval reaches from all of it to none of it.
constexpr double kChargeNoise = 1;
// The part of it that is not charged.
constexpr double kFreeArmSeconds = 3e-5;
constexpr double kFreeArmShare = 0.02;

std::vector<double> ArmExcesses(const std::vector<TimedPair>& pairs, int64_t Arming::*spent) {
  std::vector<double> excess;
  for (const TimedPair& pair : pairs)
    excess.push_back(
        1e-9 * static_cast<double>(pair.candidate.arming.*spent - pair.baseline.arming.*spent));
  return excess;
}

// In the middle, which is known better than the mean on a busy machine.
double UsualArmExcess(const std::vector<TimedPair>& pairs, int64_t Arming::*spent, double noise) {
  const std::vector<double> excess = ArmExcesses(pairs, spent);
  return stats::Median(excess) - noise * stats::MedianStandardError(excess);
}

// Seconds by which the candidate took longer to be armed than the baseline, in every call or in
// many. Of CPU time: much work in few of them is as much as a little in each.
double ArmExcess(const std::vector<TimedPair>& pairs, int64_t Arming::*spent) {
  std::vector<double> usual;
  for (const TimedPair& pair : pairs)
    usual.push_back(1e-9 * static_cast<double>(pair.baseline.arming.*spent));
  return std::max(UsualArmExcess(pairs, spent, kArmNoise),
                  stats::Mean(ArmExcesses(pairs, spent)) - kArmNoise * stats::StandardError(usual));
}

// The excess that is allowed in a call. `waking`: what so many more threads excuse.
double AllowedArming(const std::vector<TimedPair>& pairs, const Waking& waking,
                     double call_seconds) {
  std::vector<double> usual;
  for (const TimedPair& pair : pairs)
    usual.push_back(1e-9 * static_cast<double>(pair.baseline.arming.stopped_ns));
  return std::max(kArmSeconds, kArmOfBaseline * stats::Percentile(usual, 0.9)) +
         waking.cpu_seconds + kArmShare * call_seconds;
}

}  // namespace

void ChargeArming(Trial& trial) {
  const std::vector<TimedPair>& pairs = trial.pairs.record;
  const Waking& waking = trial.waking;
  std::vector<double> own;
  for (const TimedPair& pair : pairs) own.push_back(RecordSeconds(trial.costs, pair.candidate));
  const double wall = UsualArmExcess(pairs, &Arming::wall_ns, 0) - waking.wall_seconds;
  const double spent =
      std::max(ArmExcess(pairs, &Arming::main_cpu_ns) - waking.main_cpu_seconds,
               UsualArmExcess(pairs, &Arming::wall_ns, kChargeNoise) - waking.wall_seconds);
  const double allowed = AllowedArming(pairs, waking, stats::Median(own));
  // Other threads are charged for what exceeds the allowance alone: a busy machine lets them spin,
  // or stop late.
  const double free = kFreeArmSeconds + kFreeArmShare * stats::Median(own);
  stats::Charges& charges = trial.charges.record;
  charges.arming = std::max({0.0, spent - free, ArmExcess(pairs, &Arming::answered_ns) - allowed,
                             ArmExcess(pairs, &Arming::stopped_ns) - kLateStop * allowed});
  charges.arming_doubt = std::max(0.0, wall - free - charges.arming);
}

std::optional<Failure> CheckArming(Trial& trial, double call_seconds) {
  const double most = ArmExcess(trial.pairs.record, &Arming::answered_ns);
  trial.report.evidence.clocks.value().arm_excess_ms = 1e3 * most;
  trial.report.evidence.clocks.value().arm_charged_ms = 1e3 * trial.charges.record.arming;
  // A busy machine stops threads late; one that is in the kernel works until then.
  const double stopped = ArmExcess(trial.pairs.record, &Arming::stopped_ns);
  const double allowed = AllowedArming(trial.pairs.record, trial.waking, call_seconds);
  // On cpu all of it is charged, and what gains nothing need not be refused.
  if (trial.job.target == Target::kCpu || (most <= allowed && stopped <= kLateStop * allowed))
    return std::nullopt;
  return Broken(Rule::kWorkBetweenCalls,
                fmt::format("the candidate took {:.3f} ms longer than the baseline between "
                            "two calls, while its last outputs were freed: work belongs into "
                            "forward",
                            1e3 * std::max(most, stopped)));
}

}  // namespace davinci::judge
