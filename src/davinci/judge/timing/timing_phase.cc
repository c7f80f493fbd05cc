#include "davinci/judge/timing/timing_phase.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "davinci/judge/check/reweigh.h"
#include "davinci/judge/timing/call_clock.h"
#include "davinci/judge/timing/launches.h"
#include "davinci/judge/timing/samples.h"
#include "davinci/judge/timing/timed_calls.h"
#include "davinci/judge/timing/timed_windows.h"
#include "davinci/judge/timing/window_times.h"
#include "davinci/judge/trial/verdict.h"
#include "davinci/stats/occasional.h"
#include "davinci/stats/stopping_criterion.h"

namespace davinci::judge {
namespace {

// Pairs before timing. On cuda a window of calls follows (WarmWindows), and the pair is left out
// where an earlier candidate of the session has shown how long a call of the baseline takes.
constexpr int kWarmupPairsOnCpu = 2;
// A launch is timed for a visit of two blocks, A B B A and B A A B, behind a pair off the record:
// while others were visited, its code and what it has freed have left the caches, so that its first
// calls take up to half as long again (bench/cold_agreement.py).
constexpr int kBlocksOfVisit = 2;
constexpr int kPairsOfLaunch = 2 * kBlocksOfVisit;  // at least
constexpr int kWarmupPairsOnCuda = 1;
// Standard deviation of the log ratio of two processes of one program, for as long as they live; it
// widens every interval, less where several launches were timed (stats/paired_ratio.h). On cuda
// 0.006. On cpu 0.02 to 0.045 while the inputs of a call fit into caches near a core: which
// physical pages a process got, by which caches are indexed, and where its temporaries lie in them
// (bench/process_spread.py). Larger ones are read from wherever the machine, and a host below it,
// put the pages: 0.1 for a chain on 16 MB, where either process takes 10 to 25 % longer than the
// other (bench/aa.py).
constexpr double kBetweenProcessLogSdOnCuda = 0.006;
constexpr double kBetweenProcessLogSdOnCpu[] = {0.04, 0.1};
constexpr double kInputBytesOnCpu[] = {4 << 20, 16 << 20};  // of which these are
// … and by this much a call. On cuda: a kernel of 5 us in eight processes, 5.1 to 5.4; of several
// launches, each gap as much (chains of six on small tensors: 0.5 to 0.8 us a side). On cpu: how
// two threads meet again, the same all through one process. A/A of calls of 0.11 ms on two busy
// cores: the two sides differ by 10 µs (standard deviation).
constexpr double kBetweenProcessSecondsOnCuda = 3e-7;
constexpr double kBetweenProcessSecondsOnCpu = 7e-6;

double BetweenProcessLogSdOnCpu(double input_bytes) {
  const auto& [small, large] = kInputBytesOnCpu;
  const double share =
      std::log(std::clamp(input_bytes, small, large) / small) / std::log(large / small);
  return std::lerp(kBetweenProcessLogSdOnCpu[0], kBetweenProcessLogSdOnCpu[1], share);
}

// A phase under way. A step returns false where a verdict stands.
class Phase {
 public:
  Phase(Trial& trial, const PhasePlan& timing);
  Result<std::optional<TimingPhase>> Measure();

 private:
  // What is due before the next pair, and the pair itself, which may be of no record.
  Result<bool> MeasureNext();
  // A pair on inputs of the distribution that was settled while the one before was under way.
  Result<bool> MeasureOne(bool baseline_first, bool full_check, std::vector<TimedPair>* into);
  Result<bool> ChangeWeights();
  Result<bool> Visit(size_t launch);
  // Ends the phase where its samples are enough.
  Result<bool> Look(TimingPhase* phase);

  Trial& trial_;
  const PhasePlan& timing_;
  const std::vector<TimedPair>& pairs_ = trial_.pairs.record;
  const uint64_t min_pairs_ = static_cast<uint64_t>(trial_.protocol.min_pairs);
  stats::StoppingCriterion criterion_{timing_.plan, timing_.options};
  const Stopwatch spent_;
  stats::Occasional reweighing_;
  stats::Occasional stress_;
  stats::Occasional truth_;
  // The kind of a pair's inputs is settled while the one before is under way, which may draw them.
  const uint64_t first_stress_ = trial_.secret.Below(min_pairs_ - 1);
  const bool stresses_ = trial_.protocol.stress_share > 0 && !trial_.candidate.correct_on.empty();
  uint64_t next_reweigh_ = 1 + trial_.secret.Below(min_pairs_ - 1);
  const uint64_t first_truth_ = trial_.secret.Below(min_pairs_);
  uint64_t num_measured_ = 0;
  size_t num_visits_ = 0;
  double off_record_ = 0;  // seconds of the pairs that begin visits, and of ConfirmCharge()
  // With `staged` a charge in doubt stays one: the device is wanted.
  bool is_confirmed_ = trial_.protocol.staged;
};

Phase::Phase(Trial& trial, const PhasePlan& timing) : trial_(trial), timing_(timing) {}

Result<bool> Phase::MeasureOne(bool baseline_first, bool full_check, std::vector<TimedPair>* into) {
  const std::string distribution = std::exchange(trial_.inputs.next_distribution, "task");
  const bool due =
      num_measured_++ == first_stress_ ||
      (trial_.secret.Uniform() < trial_.protocol.stress_share && stress_.Fits(spent_.Seconds()));
  if (due && stresses_)
    trial_.inputs.next_distribution =
        trial_.candidate.correct_on[trial_.secret.Below(trial_.candidate.correct_on.size())];
  if (distribution == "task" && trial_.job.target == Target::kCuda) {
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, MeasureWindows(trial_, trial_.windows.full_queue,
                                                              baseline_first, full_check, into));
    return go_on && into != nullptr ? Corroborate(trial_, baseline_first) : Result<bool>(go_on);
  }
  if (distribution == "task" || into == nullptr)
    return MeasurePair(trial_, baseline_first, distribution, full_check || distribution != "task",
                       into);
  const Stopwatch watch;
  auto go_on = MeasurePair(trial_, baseline_first, distribution, true, &trial_.pairs.stress);
  stress_.Took(watch.Seconds());
  return go_on;
}

Result<bool> Phase::ChangeWeights() {
  const Stopwatch watch;
  const int before = trial_.weights.count;
  DAVINCI_ASSIGN_OR_RETURN(const auto failure, Reweigh(trial_));
  if (failure) return Verdict(trial_, *failure);
  bool go_on = true;
  // Who keeps something by version renews it off the record.
  for (size_t launch = 0;
       go_on && trial_.weights.count > before && launch < trial_.launches.parked.size(); ++launch) {
    UseLaunch(trial_, launch);
    DAVINCI_ASSIGN_OR_RETURN(go_on, MeasureOne(true, false, nullptr));
  }
  reweighing_.Took(watch.Seconds());
  return go_on;
}

Result<bool> Phase::Visit(size_t launch) {
  if (trial_.launches.parked.size() < 2) return true;
  UseLaunch(trial_, launch);
  const Stopwatch watch;
  DAVINCI_ASSIGN_OR_RETURN(const bool go_on, MeasureOne(true, false, nullptr));
  off_record_ += watch.Seconds();
  return go_on;
}

Result<bool> Phase::MeasureNext() {
  if (pairs_.size() >= next_reweigh_ && reweighing_.Fits(spent_.Seconds())) {
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, ChangeWeights());
    if (!go_on) return false;
    // The distance to the next doubles at most: a cache of derived weights does not live through
    // half of the pairs, whenever it was filled.
    next_reweigh_ = pairs_.size() + 1 + trial_.secret.Below(pairs_.size() + 1);
  }
  // A B B A: what drifts hits both sides alike. On cpu B A A B follows: what came between two
  // blocks, as other weights, makes the next call a cold one.
  const size_t num_pairs = pairs_.size();
  const size_t block = num_pairs / 2;
  const bool turned = trial_.job.target == Target::kCpu && block % 2 == 1;
  const bool baseline_first = (num_pairs % 2 == 0) != turned;
  if (const size_t visited = block / kBlocksOfVisit; visited >= num_visits_) {
    num_visits_ = visited + 1;
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, Visit(visited % trial_.launches.parked.size()));
    if (!go_on) return false;
  }
  UseLaunch(trial_, block / kBlocksOfVisit % trial_.launches.parked.size());
  const bool chosen = trial_.secret.Uniform() < trial_.protocol.full_check_share;
  const bool first = num_pairs == first_truth_ && !stresses_;
  const bool full_check = first || (chosen && truth_.Fits(spent_.Seconds()));
  const Stopwatch watch;
  DAVINCI_ASSIGN_OR_RETURN(const bool go_on,
                           MeasureOne(baseline_first, full_check, &trial_.pairs.record));
  if (full_check && pairs_.size() > num_pairs) truth_.Took(watch.Seconds());
  return go_on;
}

Result<bool> Phase::Look(TimingPhase* phase) {
  phase->samples = LearnSamples(trial_);
  const double on_record =
      spent_.Seconds() - reweighing_.total_seconds() - stress_.total_seconds() - off_record_;
  DAVINCI_ASSIGN_OR_RETURN(phase->decision, criterion_.Look(phase->samples, on_record));
  const bool is_settled =
      is_confirmed_ || !(trial_.charges.record.windows > 0 || trial_.charges.in_doubt);
  if (!phase->decision.stop() || is_settled) return true;
  is_confirmed_ = true;
  const Stopwatch confirming;
  DAVINCI_ASSIGN_OR_RETURN(const bool go_on, ConfirmCharge(trial_));
  if (!go_on) return false;
  off_record_ += confirming.Seconds();
  phase->samples = LearnSamples(trial_);
  // `criterion_` looks again only after further pairs.
  stats::StoppingCriterion anew(timing_.plan, timing_.options);
  DAVINCI_ASSIGN_OR_RETURN(phase->decision, anew.Look(phase->samples, on_record));
  return true;
}

Result<std::optional<TimingPhase>> Phase::Measure() {
  const std::optional<TimingPhase> verdict_stands;
  TimingPhase phase;
  while (!phase.decision.stop()) {
    const size_t num_pairs = pairs_.size();
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, MeasureNext());
    if (!go_on) return verdict_stands;
    if (pairs_.size() == num_pairs) continue;
    DAVINCI_ASSIGN_OR_RETURN(const bool looked, Look(&phase));
    if (!looked) return verdict_stands;
  }
  trial_.report.evidence.stress_while_timing = trial_.pairs.stress.size();
  return std::optional<TimingPhase>(std::move(phase));
}

}  // namespace

Result<std::optional<PhasePlan>> PlanTiming(Trial& trial) {
  Stopwatch warmup;
  const bool is_known =
      trial.job.target == Target::kCuda && trial.session->baseline_seconds.has_value();
  const int num_warmup = is_known                            ? 0
                         : trial.job.target == Target::kCuda ? kWarmupPairsOnCuda
                                                             : kWarmupPairsOnCpu;
  for (int i = 0; i < num_warmup; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on,
                             MeasurePair(trial, i % 2 == 0, "task", false, &trial.pairs.record));
    if (!go_on) return std::optional<PhasePlan>();
  }
  double pair_seconds = is_known ? 0 : warmup.Seconds() / num_warmup;
  trial.timing.baseline_seconds =
      is_known ? trial.session->baseline_seconds.value()
               : RecordSeconds(trial.costs, trial.pairs.record.back().baseline);
  trial.pairs.record.clear();
  DAVINCI_ASSIGN_OR_RETURN(const bool launched, LaunchMore(trial));
  if (!launched) return std::optional<PhasePlan>();
  if (trial.job.target == Target::kCuda) {
    DAVINCI_ASSIGN_OR_RETURN(bool go_on, WarmWindows(trial));
    // With `staged` what an earlier candidate of the session has shown is believed.
    if (!(is_known && trial.protocol.staged)) {
      const Stopwatch watch;
      if (go_on) {
        DAVINCI_ASSIGN_OR_RETURN(go_on, MeasureWindows(trial, trial.windows.full_queue, true, false,
                                                       &trial.pairs.record));
      }
      if (!go_on) return std::optional<PhasePlan>();
      pair_seconds = watch.Seconds();
      trial.timing.baseline_seconds =
          WindowSamples(trial.pairs, trial.windows, trial.pairs.record, trial.windows.full_queue)
              .back()
              .baseline_seconds;
      trial.session->baseline_seconds = trial.timing.baseline_seconds;
      trial.pairs.record.clear();
    } else if (!go_on) {
      return std::optional<PhasePlan>();
    }
  }

  stats::StoppingOptions options;
  options.target_relative_half_width = trial.protocol.target_half_width;
  options.target_of_effect = trial.protocol.target_of_effect;
  options.sampling_share_of_width = trial.protocol.sampling_share_of_width;
  options.min_pairs = std::max(trial.protocol.min_pairs,
                               kPairsOfLaunch * static_cast<int>(trial.launches.parked.size()));
  options.max_pairs = trial.protocol.max_pairs;
  options.budget_seconds = trial.protocol.timing_budget_seconds;
  options.per_call_overhead_seconds =
      std::max(0.0, pair_seconds / 2 - trial.timing.baseline_seconds);
  options.clearly_slow_below = trial.protocol.give_up_below;
  options.ratio.seed = trial.secret.Next();
  options.ratio.pairs_per_block = trial.job.target == Target::kCuda ? 1 : 2;
  options.ratio.between_process_log_sd = trial.job.target == Target::kCuda
                                             ? kBetweenProcessLogSdOnCuda
                                             : BetweenProcessLogSdOnCpu(static_cast<double>(
                                                   trial.session->facts[0].value().slot_bytes));
  options.ratio.between_process_seconds = trial.job.target == Target::kCuda
                                              ? kBetweenProcessSecondsOnCuda
                                              : kBetweenProcessSecondsOnCpu;
  if (trial.job.target == Target::kCuda)
    if (const auto& work = trial.session->facts[0].value().work)
      options.ratio.baseline_kernels = std::max(1, static_cast<int>(work->operators));
  DAVINCI_ASSIGN_OR_RETURN(const stats::MeasurementPlan plan,
                           stats::PlanMeasurement(trial.timing.baseline_seconds, options));
  return std::optional<PhasePlan>({options, plan});
}

Result<std::optional<TimingPhase>> MeasurePhase(Trial& trial, const PhasePlan& timing) {
  trial.pairs = {};
  return Phase(trial, timing).Measure();
}

}  // namespace davinci::judge
