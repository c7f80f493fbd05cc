// The timing half of an examination: interleaved pairs on inputs nobody has seen, every timed
// output verified.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "davinci/judge/awake_cores.h"
#include "davinci/judge/examination.h"
#include "davinci/judge/machine_state.h"
#include "davinci/judge/stats/clock_agreement.h"
#include "davinci/judge/stats/paired_ratio.h"
#include "davinci/judge/stats/stopping_criterion.h"
#include "davinci/judge/stats/summary.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr int kWarmupPairs = 2;
// Two processes of one program differ by about this much (docs/results/judge.md, A/A); it widens
// every interval.
constexpr double kBetweenProcessLogSd = 0.006;
// … and by this much a call. On cuda: waking up, and the device changing contexts. A/A of a kernel
// of microseconds, calls of 0.2 ms: standard deviation of the log ratio 0.1 to 0.15. On cpu: how
// two threads meet again, the same all through one process. A/A of calls of 0.11 ms on two busy
// cores: the two sides differ by 10 µs (standard deviation).
constexpr double kBetweenProcessSecondsOnCuda = 2.5e-5;
constexpr double kBetweenProcessSecondsOnCpu = 7e-6;
// A runner whose own clock reads less than this share of ours is not measuring what we measure.
constexpr double kContradiction = 0.6;
// Nor is one that differs by less than this: unpacking a call costs two processes different
// microseconds, and a core that a virtual machine has let sleep wakes up to two hundred later, for
// one of them in every call.
constexpr double kContradictionSeconds = 2.5e-4;
// … nor who differs by less than this many times what the baseline's two clocks differ by, beyond
// the protocol's least cost: on a crowded machine both wait between them.
constexpr double kHonestGap = 2;
// More time than the baseline's, between two calls.
constexpr double kArmSeconds = 2.5e-4;
constexpr double kArmShare = 0.1;
// … and for each thread more than the baseline's, up to so many: all of them wake and stop. 4 µs on
// a CPU host; on an H200's 5, and with eight candidates in flight 18 to 41, where what could be
// prepared for the device is found otherwise (CheckIdleDevice).
constexpr double kArmSecondsPerThread = 8e-6;
constexpr double kArmSecondsPerThreadOnCuda = 6e-5;
constexpr int kMostThreads = 128;
// … and so many times as much until all of them had stopped.
constexpr double kLateStop = 3;
// What is charged need not be refused, unless it is more than this and more than the call itself.
constexpr double kGrossArmSeconds = 1e-3;
// Standard errors by which the middle and the mean over all pairs may be off.
constexpr double kArmNoise = 3;
// What of it nobody is charged for.
constexpr double kFreeArmSeconds = 3e-5;
constexpr double kFreeArmShare = 0.02;
// Below the interval by more than this: the time of all calls together tells another story.
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
constexpr int64_t kFewPages = 16;
constexpr int64_t kMaxOverheadNs = 2'000'000;
// What is done in some pairs only: whenever it is due the first time, then as far as all of it will
// have taken no more than a fifth of the phase, if it takes as long as its longest so far.
class Occasional {
 public:
  bool Fits(double phase_seconds) const { return total_ + longest_ <= kShare * phase_seconds; }
  void Took(double seconds) {
    total_ += seconds;
    longest_ = std::max(longest_, seconds);
  }
  double total_seconds() const { return total_; }

 private:
  static constexpr double kShare = 0.2;
  double total_ = 0;
  double longest_ = 0;
};

// That the oracle spent on what it answers.
int64_t Nanoseconds(const json& answer) {
  return static_cast<int64_t>(1e9 * answer.at("seconds").get<double>());
}

TimeSummary Summarise(const std::vector<double>& seconds) {
  if (seconds.empty()) return {};
  return {1e3 * Median(seconds), 1e3 * *std::min_element(seconds.begin(), seconds.end()),
          1e3 * *std::max_element(seconds.begin(), seconds.end()),
          static_cast<int>(seconds.size())};
}

}  // namespace

double Examination::RecordSeconds(const CallResult& call) const {
  int64_t outer = call.wall_ns - overhead_ns_;
  if (call.tail_cpu_ns > tail_cpu_ns_ + kTailCpuNs + call.wall_ns / 20) outer += call.freeze_ns;
  outer += kUnwrittenPageNs * call.unwritten_pages;
  const int64_t claimed = std::min(call.inner_ns, call.wall_ns);
  return 1e-9 * static_cast<double>(std::max({outer, claimed, int64_t{1}}));
}

Result<std::string> Examination::DrawnInputs(const std::string& distribution) {
  if (drawn_) {
    call_seed_ = drawn_->at("call_seed");
    return std::exchange(drawn_, std::nullopt)->at("args").get<std::string>();
  }
  // Truth is worked out after the calls: what comes before a call never says how it is looked at.
  DAVINCI_ASSIGN_OR_RETURN(const json drawn, Prepare(distribution, 0, false));
  return drawn.at("args").get<std::string>();
}

Result<bool> Examination::FailInPair(const Timed& timed, const Failure& failure) {
  if (timed.side == Side::kBaseline) return ReferenceFailure(failure);
  return Verdict(failure);
}

Result<bool> Examination::ArmBoth(PairUnderWay* pair, const std::string& args) {
  // On cuda both at once. On cpu one after the other: their threads look for more work for some
  // milliseconds, and would keep the other one from its core.
  const bool at_once = job_.target == Target::kCuda;
  Answer answers[2];
  for (int turn : {0, 1}) {
    Timed* timed = pair->order[turn];
    timed->runner->BeginFrozen(ArmMessage(timed, *session_->facts[0], args));
    if (!at_once) answers[turn] = timed->runner->FinishFrozen(CallTimeout());
  }
  for (int turn : {0, 1}) {
    if (at_once) answers[turn] = pair->order[turn]->runner->FinishFrozen(CallTimeout());
    if (answers[turn].failure) return FailInPair(*pair->order[turn], *answers[turn].failure);
    // Threads of a pool use CPU time while they look for work: that is none.
    const Answer& a = answers[turn];
    pair->arming[turn] = {std::min(a.cpu_ns, a.wall_ns), std::min(a.cpu_ns, a.stopped_ns),
                          a.main_cpu_ns, a.stopped_ns};
  }
  return true;
}

json Examination::VerifyPairRequest(const PairUnderWay& pair) const {
  // The oracle's samples are of whoever ran last.
  return VerifyRequest(pair.layouts[static_cast<int>(Side::kCandidate)],
                       pair.layouts[static_cast<int>(Side::kBaseline)], pair.full_check,
                       pair.order[1] == &candidate_);
}

Result<bool> Examination::LookOnHost(PairUnderWay* pair, int turn) {
  Oracle& oracle = *session_->oracle;
  const bool last = turn == 1;
  // The supervisor copies outputs while the oracle copies inputs.
  if (!last)
    DAVINCI_RETURN_IF_ERROR(oracle.Post(PublishRequest(*pair->order[1], *session_->facts[0])));
  const auto failure = Locate(*pair->order[turn], &pair->call(turn), 0, &pair->layout(turn));
  if (!last) DAVINCI_RETURN_IF_ERROR(oracle.Await("publish").status());
  if (failure) return FailInPair(*pair->order[turn], *failure);
  if (!last) return true;
  DAVINCI_ASSIGN_OR_RETURN(auto verified, oracle.Ask(VerifyPairRequest(*pair)));
  pair->verified = std::move(verified.ok);
  return true;
}

Result<bool> Examination::LookOnDevice(PairUnderWay* pair, int turn) {
  const Timed& timed = *pair->order[turn];
  CallResult& call = pair->call(turn);
  json& layout = pair->layout(turn);
  if (const auto failure = Locate(timed, &call, 0, &layout)) return FailInPair(timed, *failure);
  // One message: the first look at what has just been returned, and either the inputs for the other
  // or the comparison, with which the next pair's inputs are drawn.
  std::vector<json> requests = {SettleRequest(timed, *session_->facts[0], layout, call.outputs)};
  if (turn == 0) {
    requests.push_back(PublishRequest(*pair->order[1], *session_->facts[0]));
  } else {
    requests.push_back(VerifyPairRequest(*pair));
    requests.push_back(PrepareRequest(next_distribution_, 0, false, secret_.Next() >> 1));
  }
  DAVINCI_ASSIGN_OR_RETURN(auto answers, session_->oracle->AskAll(requests));
  if (answers.ok.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto failure, Unreadable(answers.failure));
    return FailInPair(timed, *failure);
  }
  DAVINCI_RETURN_IF_ERROR(answers.failure);
  call.settle_ns = Nanoseconds(answers.ok[0]);
  if (turn == 0) {
    pair->calls.publish_ns[1] = Nanoseconds(answers.ok[1]);
    return true;
  }
  pair->verified = std::move(answers.ok[1]);
  drawn_ = std::move(answers.ok[2]);
  return true;
}

Result<bool> Examination::MeasurePair(bool baseline_first, const std::string& distribution,
                                      bool full_check, std::vector<Pair>* into) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string args, DrawnInputs(distribution));
  PairUnderWay pair;
  pair.order[baseline_first ? 0 : 1] = &session_->baseline;
  pair.order[baseline_first ? 1 : 0] = &candidate_;
  pair.full_check = full_check;
  DAVINCI_ASSIGN_OR_RETURN(const bool armed, ArmBoth(&pair, args));
  if (!armed) return false;
  DAVINCI_ASSIGN_OR_RETURN(const auto published, session_->oracle->Ask(PublishRequest(
                                                     *pair.order[0], *session_->facts[0])));
  pair.calls.publish_ns[0] = Nanoseconds(published.ok);
  for (int turn : {0, 1}) {
    CallResult& call = pair.call(turn);
    DAVINCI_ASSIGN_OR_RETURN(call, CallPublished(pair.order[turn], false));
    call.arming = pair.arming[turn];
    if (call.failure) return FailInPair(*pair.order[turn], *call.failure);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, job_.target == Target::kCuda
                                                   ? LookOnDevice(&pair, turn)
                                                   : LookOnHost(&pair, turn));
    if (!go_on) return false;
  }
  if (auto failure = CheckOutside(candidate_)) return Verdict(*failure);
  std::optional<Failure> broken;
  const json comparison = Verified(pair.verified, &broken);
  if (broken) return Verdict(*broken);
  if (!comparison.at("passed").get<bool>()) {
    Failure failure = MismatchFailure(comparison, distribution, 0);
    failure.message += distribution == "own" ? " (a timed call: what is timed is what is checked)"
                                             : " (a call among the timed ones)";
    return Verdict(std::move(failure));
  }
  right_since_reweigh_ = true;
  if (auto failure = SharedOutput()) return Verdict(*failure);
  if (into != nullptr) into->push_back(std::move(pair.calls));
  return true;
}

Result<bool> Examination::MeasureTime() {
  share_.Release();
  json& state = evaluation_.evidence["device_state"];  // read while others may be timed
  state["before"] = MachineState(job_.target, *workshop_.monitor);
  gpu::LeaseRequest request;
  request.mode = gpu::LeaseMode::kExclusive;
  request.purpose = "timing " + job_.candidate_path;
  DAVINCI_ASSIGN_OR_RETURN(gpu::DeviceLease lease, workshop_.leases->Acquire(DeviceKey(), request));
  evaluation_.times["waited_for_device_ms"] = lease.waited_ms();

  std::optional<AwakeCores> awake;
  std::vector<worker::Process*> roles;
  if (job_.target == Target::kCuda) {
    roles = {&candidate_.runner->process(), &session_->baseline.runner->process(),
             &session_->oracle->process()};
    awake.emplace(roles);
  }
  for (worker::Process* role : roles) role->set_spin(kSpinSeconds);
  const Stopwatch held;
  const auto result = MeasurePairs(std::move(lease));
  evaluation_.times["held_device_ms"] = 1e3 * held.Seconds();
  for (worker::Process* role : roles) role->set_spin(0);
  state["after"] = MachineState(job_.target, *workshop_.monitor);
  if (const std::string slowed = state["after"].value("slowed_by", ""); !slowed.empty())
    evaluation_.AddLabel("device slowed by: " + slowed);
  return result;
}

Result<bool> Examination::MeasurePairs(gpu::DeviceLease lease) {
  threads_before_timing_ = candidate_.runner->process().NumThreads();
  Stopwatch phase;
  Stopwatch warmup;
  for (int i = 0; i < kWarmupPairs; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, MeasurePair(i % 2 == 0, "own", false, &pairs_));
    if (!go_on) return false;
  }
  const double pair_seconds = warmup.Seconds() / kWarmupPairs;
  baseline_seconds_ = RecordSeconds(pairs_.back().baseline);
  pairs_.clear();

  StoppingOptions options;
  options.target_relative_half_width = protocol_.target_half_width;
  options.target_of_effect = protocol_.target_of_effect;
  options.sampling_share_of_width = protocol_.sampling_share_of_width;
  options.min_pairs = protocol_.min_pairs;
  options.max_pairs = protocol_.max_pairs;
  options.budget_seconds = protocol_.timing_budget_seconds;
  options.per_call_overhead_seconds = std::max(0.0, pair_seconds / 2 - baseline_seconds_);
  options.clearly_slow_below = protocol_.give_up_below;
  options.ratio.seed = secret_.Next();
  options.ratio.between_process_log_sd = kBetweenProcessLogSd;
  options.ratio.between_process_seconds =
      job_.target == Target::kCuda ? kBetweenProcessSecondsOnCuda : kBetweenProcessSecondsOnCpu;
  DAVINCI_ASSIGN_OR_RETURN(const MeasurementPlan plan, PlanMeasurement(baseline_seconds_, options));
  StopDecision decision;
  Average average;
  bool uneven = false;
  std::vector<PairedSample> samples;
  // Whoever seems to lie about time is measured a second time: a neighbour on the machine may have
  // come between. The pairs of a phase under suspicion are never used.
  for (const bool again : {false, true}) {
    StoppingCriterion criterion(plan, options);
    decision = {};
    pairs_.clear();
    stress_pairs_.clear();
    phase.Restart();
    Occasional reweighing;
    Occasional stress;
    Occasional truth;
    // The kind of a pair's inputs is settled while the one before is under way, which may draw
    // them.
    const uint64_t first_stress = secret_.Below(static_cast<uint64_t>(plan.min_pairs - 1));
    const bool stresses = protocol_.stress_share > 0 && !stress_.empty();
    uint64_t num_measured = 0;
    const auto measure = [&](bool baseline_first, bool full_check,
                             std::vector<Pair>* into) -> Result<bool> {
      const std::string distribution = std::exchange(next_distribution_, "own");
      const bool due = num_measured++ == first_stress ||
                       (secret_.Uniform() < protocol_.stress_share && stress.Fits(phase.Seconds()));
      if (due && stresses) next_distribution_ = stress_[secret_.Below(stress_.size())];
      if (distribution == "own" || into == nullptr)
        return MeasurePair(baseline_first, distribution, full_check || distribution != "own", into);
      const Stopwatch watch;
      auto go_on = MeasurePair(baseline_first, distribution, true, &stress_pairs_);
      stress.Took(watch.Seconds());
      return go_on;
    };
    // The distance to the next doubles at most: a cache of derived weights does not live through
    // half of the pairs, whenever it was filled.
    uint64_t next_reweigh = 1 + secret_.Below(static_cast<uint64_t>(plan.min_pairs - 1));
    const uint64_t first_truth = secret_.Below(static_cast<uint64_t>(plan.min_pairs));
    while (!decision.stop()) {
      if (pairs_.size() >= next_reweigh && reweighing.Fits(phase.Seconds())) {
        const Stopwatch watch;
        const int before = reweighs_;
        DAVINCI_ASSIGN_OR_RETURN(const auto failure, Reweigh());
        if (failure) return Verdict(*failure);
        if (reweighs_ > before) {  // who keeps something by version renews it off the record
          DAVINCI_ASSIGN_OR_RETURN(const bool go_on, measure(true, false, nullptr));
          if (!go_on) return false;
        }
        next_reweigh = pairs_.size() + 1 + secret_.Below(pairs_.size() + 1);
        reweighing.Took(watch.Seconds());
      }
      // A B B A: what drifts hits both sides alike.
      const bool baseline_first = pairs_.size() % 2 == 0;
      const bool chosen = secret_.Uniform() < protocol_.full_check_share;
      const bool first = pairs_.size() == first_truth && !stresses;
      const bool full_check = first || (chosen && truth.Fits(phase.Seconds()));
      const Stopwatch watch;
      const size_t num_pairs = pairs_.size();
      DAVINCI_ASSIGN_OR_RETURN(const bool go_on, measure(baseline_first, full_check, &pairs_));
      if (!go_on) return false;
      if (pairs_.size() == num_pairs) continue;
      if (full_check) truth.Took(watch.Seconds());
      samples = Samples();
      DAVINCI_ASSIGN_OR_RETURN(
          decision, criterion.Look(samples, phase.Seconds() - reweighing.total_seconds() -
                                                stress.total_seconds()));
    }
    evaluation_.evidence["stress_while_timing"] = stress_pairs_.size();
    const auto failure = CheckClocks();
    average = OnAverage();
    uneven = IsUneven(average, decision.ratio->low);
    if (!failure && !uneven) break;
    if (again && failure) return Verdict(*failure);
    if (!again)
      evaluation_.evidence["timed_again"] =
          failure ? failure->message
                  : fmt::format("{:.3g} times as fast on average, {:.3g} in the middle",
                                average.ratio, decision.ratio->median);
  }
  lease.Release();
  evaluation_.evidence["stopped_because"] = StopReasonName(decision.reason);

  std::vector<double> candidate_seconds;
  std::vector<double> baseline_seconds;
  for (const PairedSample& sample : samples) {
    candidate_seconds.push_back(sample.candidate_seconds);
    baseline_seconds.push_back(sample.baseline_seconds);
  }
  evaluation_.candidate_time = Summarise(candidate_seconds);
  evaluation_.baseline_time = Summarise(baseline_seconds);

  PairedRatio ratio = *decision.ratio;
  if (uneven) {
    // Twice in a row: not a neighbour's doing. Whoever calls it pays the average.
    evaluation_.AddLabel(fmt::format("uneven calls: {:.3g} x in the middle, {:.3g} x on average",
                                     ratio.median, average.ratio));
    ratio.median = ratio.low = average.ratio;
    ratio.significant = ratio.significant && (ratio.high < 1 || ratio.low > 1 + options.ratio.band);
  }
  if (arm_charge_ > 0) {
    // It may be a neighbour's doing after all: the interval reaches to where nothing is charged.
    const double charged = evaluation_.candidate_time->median_ms * 1e-3;
    ratio.high *= charged / std::max(charged - arm_charge_, 1e-9);
    ratio.significant = ratio.significant &&
                        (ratio.low > 1 + options.ratio.band || ratio.high < 1 - options.ratio.band);
    evaluation_.AddLabel(fmt::format("work between calls: {:.3f} ms charged", 1e3 * arm_charge_));
  }
  evaluation_.speedup =
      Speedup{ratio.median, ratio.low, ratio.high, ratio.significant, job_.baseline};
  if (const int64_t pages = pairs_.back().candidate.unwritten_pages; pages > kFewPages)
    evaluation_.AddLabel(fmt::format("{} pages of the outputs are not written", pages));
  if (ratio.unsteadiness > kSteady)
    evaluation_.AddLabel(fmt::format("unsteady timing: {:.1f} x", ratio.unsteadiness));
  return true;
}

Examination::Average Examination::OnAverage() const {
  std::vector<double> baseline;
  std::vector<double> candidate;
  for (const auto* pairs : {&pairs_, &stress_pairs_})
    for (const Pair& pair : *pairs) {
      baseline.push_back(RecordSeconds(pair.baseline));
      candidate.push_back(RecordSeconds(pair.candidate) + arm_charge_);
    }
  // As many on either side: means compare as sums do.
  const auto without_worst = [](const std::vector<double>& v) {
    return Mean(v) - *std::max_element(v.begin(), v.end()) / static_cast<double>(v.size());
  };
  return {Mean(baseline) / Mean(candidate), without_worst(baseline) / without_worst(candidate),
          Mean(candidate)};
}

bool Examination::IsUneven(const Average& average, double low) const {
  if (average.ratio_without_worst * kUneven < low) return true;
  return average.ratio * kUneven < low &&
         average.candidate_seconds * (1 - average.ratio / low) > kUnevenSeconds;
}

std::vector<PairedSample> Examination::Samples() {
  // What the protocol itself costs is measured on the baseline, whose process is ours: outer clock
  // less inner clock. A low quantile, because on a busy machine the difference is mostly waiting
  // for a core, which a call cannot be credited with.
  std::vector<double> overheads;
  std::vector<double> tails;
  for (const Pair& pair : pairs_) {
    overheads.push_back(static_cast<double>(pair.baseline.wall_ns - pair.baseline.inner_ns));
    tails.push_back(static_cast<double>(pair.baseline.tail_cpu_ns));
  }
  tail_cpu_ns_ = static_cast<int64_t>(Percentile(tails, 0.9));
  overhead_ns_ =
      std::clamp(static_cast<int64_t>(Percentile(overheads, 0.1)), int64_t{0}, kMaxOverheadNs);
  std::vector<double> own;
  for (const Pair& pair : pairs_) own.push_back(RecordSeconds(pair.candidate));
  // On cuda two processes of one program differ by as much as there is to be gained on the host.
  if (job_.target == Target::kCpu)
    arm_charge_ =
        std::max(0.0, std::max(ArmExcess(&Arming::main_cpu_ns), UsualArmExcess(&Arming::wall_ns)) -
                          kFreeArmSeconds - kFreeArmShare * Median(own));
  std::vector<PairedSample> samples;
  for (size_t i = 0; i < pairs_.size(); ++i)
    samples.push_back({RecordSeconds(pairs_[i].baseline), own[i] + arm_charge_});
  return samples;
}

// Arming lets the last outputs go and makes the arguments; inputs do not exist yet. What a
// candidate does there beyond what the baseline needs, it does off the clock: that is charged, and
// much of it refused.
std::vector<double> Examination::ArmExcesses(int64_t Arming::*spent) const {
  std::vector<double> excess;
  for (const Pair& pair : pairs_)
    excess.push_back(
        1e-9 * static_cast<double>(pair.candidate.arming.*spent - pair.baseline.arming.*spent));
  return excess;
}

// Of CPU time: much work in few of them is as much as a little in each.
double Examination::ArmExcess(int64_t Arming::*spent) const {
  std::vector<double> usual;
  for (const Pair& pair : pairs_)
    usual.push_back(1e-9 * static_cast<double>(pair.baseline.arming.*spent));
  return std::max(UsualArmExcess(spent),
                  Mean(ArmExcesses(spent)) - kArmNoise * StandardError(usual));
}

// In the middle, which is known better than the mean on a busy machine.
double Examination::UsualArmExcess(int64_t Arming::*spent) const {
  const std::vector<double> excess = ArmExcesses(spent);
  return Median(excess) - kArmNoise * MedianStandardError(excess);
}

double Examination::WakingSeconds() const {
  const int threads = std::min(threads_before_timing_, candidate_.runner->process().NumThreads()) -
                      session_->baseline.runner->process().NumThreads();
  return (job_.target == Target::kCuda ? kArmSecondsPerThreadOnCuda : kArmSecondsPerThread) *
         std::clamp(threads, 0, kMostThreads);
}

std::optional<Failure> Examination::CheckArming(double call_seconds) {
  const double most = ArmExcess(&Arming::answered_ns);
  evaluation_.evidence["clocks"]["arm_excess_ms"] = 1e3 * most;
  evaluation_.evidence["clocks"]["arm_charged_ms"] = 1e3 * arm_charge_;
  // A busy machine stops threads late; one that is in the kernel works until then.
  const double stopped = ArmExcess(&Arming::stopped_ns);
  const double allowed = kArmSeconds + WakingSeconds() + kArmShare * call_seconds;
  const bool gross = arm_charge_ > std::max(kGrossArmSeconds, call_seconds);
  if (!gross && most - arm_charge_ <= allowed && stopped - arm_charge_ <= kLateStop * allowed)
    return std::nullopt;
  Failure failure{Outcome::kInvalidTiming,
                  fmt::format("the candidate took {:.3f} ms longer than the baseline between "
                              "two calls, while its last outputs were freed: work belongs into "
                              "forward",
                              1e3 * std::max({most, stopped, arm_charge_})),
                  {}};
  failure.evidence["rule"] = "work_between_calls";
  return failure;
}

// The oracle is the first on the device after a runner, and it takes longer there while somebody
// else's work is under way: after DONE, or after arming, when no inputs exist yet. Arming comes
// before the first turn of a pair only.
std::optional<Failure> Examination::CheckIdleDevice(double call_seconds) {
  std::vector<double> settle[2];
  std::vector<double> publish[2];
  for (const Pair& pair : pairs_) {
    settle[0].push_back(1e-9 * static_cast<double>(pair.candidate.settle_ns));
    settle[1].push_back(1e-9 * static_cast<double>(pair.baseline.settle_ns));
    for (int turn : {0, 1})
      publish[turn].push_back(1e-9 * static_cast<double>(pair.publish_ns[turn]));
  }
  json& clocks = evaluation_.evidence["clocks"];
  const auto milliseconds = [](const std::vector<double>(&seconds)[2]) {
    return json{1e3 * Median(seconds[0]), 1e3 * Median(seconds[1])};
  };
  clocks["settle_ms"] = milliseconds(settle);
  clocks["publish_ms"] = milliseconds(publish);
  const auto excess = [](const std::vector<double>(&seconds)[2]) {
    return Median(seconds[0]) - Median(seconds[1]);
  };
  const auto allowed = [&](const std::vector<double>(&seconds)[2]) {
    return AgreementOptions{}.relative * call_seconds +
           3 * (ScaledMad(seconds[0]) + ScaledMad(seconds[1]));
  };
  if (excess(settle) > AgreementOptions{}.absolute_seconds + allowed(settle)) {
    Failure failure{
        Outcome::kInvalidTiming,
        fmt::format("the device was busy for {:.3f} ms longer after the candidate said done than "
                    "after the baseline did",
                    1e3 * excess(settle)),
        {}};
    failure.evidence["rule"] = "busy_after_done";
    return failure;
  }
  if (excess(publish) > kPublishSeconds + allowed(publish)) {
    Failure failure{Outcome::kInvalidTiming,
                    fmt::format("the device was busy for {:.3f} ms before a call began, with what "
                                "the candidate started while its last outputs were freed: work "
                                "belongs into forward",
                                1e3 * excess(publish)),
                    {}};
    failure.evidence["rule"] = "busy_before_go";
    return failure;
  }
  return std::nullopt;
}

std::optional<Failure> Examination::CheckClocks() {
  std::vector<double> outer;
  std::vector<double> awake;
  std::vector<double> inner;
  std::vector<double> cpu;
  std::vector<double> outside;
  std::vector<double> noise;
  for (const Pair& pair : pairs_) {
    const auto seconds = [](int64_t ns) { return 1e-9 * static_cast<double>(ns); };
    // The protocol's cost is one number for all calls; a lucky call may have cost less than that.
    outer.push_back(seconds(std::max(pair.candidate.wall_ns - overhead_ns_,
                                     std::min(pair.candidate.inner_ns, pair.candidate.wall_ns))));
    // Waiting for a core lies between the two clocks without anybody having lied.
    const int64_t gap = pair.candidate.wall_ns - overhead_ns_ - pair.candidate.inner_ns;
    const int64_t excused =
        std::clamp(pair.candidate.core_wait_ns, int64_t{0}, std::max(gap, int64_t{0}));
    awake.push_back(outer.back() - seconds(excused));
    inner.push_back(seconds(pair.candidate.inner_ns));
    cpu.push_back(seconds(pair.candidate.cpu_ns));
    outside.push_back(seconds(pair.candidate.outside_cpu_ns));
    noise.push_back(seconds(pair.baseline.wall_ns - pair.baseline.inner_ns));
  }
  json& clocks = evaluation_.evidence["clocks"];
  clocks = {{"outer_ms", 1e3 * Median(outer)},
            {"runner_ms", 1e3 * Median(inner)},
            {"outer_without_waiting_ms", 1e3 * Median(awake)},
            {"cpu_ms", 1e3 * Median(cpu)},
            {"cpu_while_stopped_ms", 1e3 * Median(outside)},
            {"protocol_overhead_ms", 1e-6 * static_cast<double>(overhead_ns_)},
            {"protocol_noise_ms", 1e3 * ScaledMad(noise)}};
  if (auto failure = CheckArming(Median(outer))) return failure;
  const AgreementOptions exact;
  if (Median(outside) > exact.absolute_seconds + exact.relative * Median(outer) + 2e-5)
    return WorkedWhileStopped(Median(outside));
  if (job_.target == Target::kCuda)
    if (auto failure = CheckIdleDevice(Median(outer))) return failure;
  // The time of record is ours; the runner's own clock is asked only whether it tells a different
  // story. A busy machine makes them differ by the wait for a core, which no rule of 5 % can know,
  // so only a clear contradiction is held against it.
  AgreementOptions options;
  options.absolute_seconds +=
      std::max(Median(noise) - Percentile(noise, 0.1), 3 * ScaledMad(noise));
  const ClockReading readings[] = {{"supervisor", Median(awake), ClockRelation::kEqual, 0},
                                   {"runner", Median(inner), ClockRelation::kEqual, 0}};
  auto agreement = CheckClockAgreement(readings, options);
  if (!agreement.ok()) return Failure{Outcome::kJudgeError, agreement.status().message(), {}};
  clocks["agreement"] = agreement->evidence;
  if (agreement->agree || Median(inner) > kContradiction * Median(awake) ||
      Median(awake) - Median(inner) <
          kContradictionSeconds +
              kHonestGap * (Median(noise) - 1e-9 * static_cast<double>(overhead_ns_)))
    return std::nullopt;
  Failure failure{Outcome::kInvalidTiming, "clocks disagree: " + agreement->evidence, {}};
  failure.evidence["rule"] = "clock_agreement";
  return failure;
}

}  // namespace davinci::judge
