// The timing half of an examination: interleaved pairs on inputs never used before, every timed
// output verified.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "davinci/data/shown_interval.h"
#include "davinci/judge/awake_cores.h"
#include "davinci/judge/examination.h"
#include "davinci/stats/occasional.h"
#include "davinci/stats/summary.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Pairs before timing. On cuda a window of calls follows (WarmWindows), and the pair is left out
// where an earlier candidate of the session has shown how long a call of the baseline takes.
constexpr int kWarmupPairsOnCpu = 2;
// A launch is timed for a visit of two blocks, A B B A and B A A B, behind a pair off the record:
// while others were visited, its code and what it has freed have left the caches, so that its first
// calls take up to half as long again (bench/cold_agreement.py).
constexpr int kBlocksOfVisit = 2;
constexpr int kPairsOfLaunch = 2 * kBlocksOfVisit;  // at least
constexpr int kWarmupPairsOnCuda = 1;
// The device is busy when a small kernel's turn takes so many times the usual; a call that keeps it
// busy for so long is ended, and a measurement waits no longer than that for the device to be
// quiet.
constexpr double kBusyTurns = 4;
constexpr double kLongestBusySeconds = 5;
constexpr double kLongestWaitForQuiet = 20;
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
// Unwritten pages of an output below which no label is set.
constexpr int64_t kFewPages = 16;

double BetweenProcessLogSdOnCpu(double input_bytes) {
  const auto& [small, large] = kInputBytesOnCpu;
  const double share =
      std::log(std::clamp(input_bytes, small, large) / small) / std::log(large / small);
  return std::lerp(kBetweenProcessLogSdOnCpu[0], kBetweenProcessLogSdOnCpu[1], share);
}

}  // namespace

int64_t Nanoseconds(const json& answer) {
  return static_cast<int64_t>(1e9 * answer.at("seconds").get<double>());
}

Result<std::string> Examination::DrawnInputs(const std::string& distribution) {
  if (trial_.inputs.ahead) {
    trial_.inputs.call_seed = trial_.inputs.ahead->at("call_seed");
    return std::exchange(trial_.inputs.ahead, std::nullopt).value().at("args").get<std::string>();
  }
  const Spent spent(&trial_.timing.by_purpose["draw"]);
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
  const bool at_once = trial_.job.target == Target::kCuda;
  const Spent spent(&trial_.timing.by_purpose["arm"]);
  Answer answers[2];
  for (int turn : {0, 1}) {
    Timed* timed = pair->order[turn];
    timed->runner->BeginFrozen(ArmMessage(timed, trial_.session->facts[0].value(), args));
    if (!at_once) answers[turn] = timed->runner->FinishFrozen(CallTimeout());
  }
  for (int turn : {0, 1}) {
    if (at_once) answers[turn] = pair->order[turn]->runner->FinishFrozen(CallTimeout());
    if (answers[turn].failure) return FailInPair(*pair->order[turn], answers[turn].failure.value());
    // Threads of a pool use CPU time while they look for work: that is none.
    const Answer& a = answers[turn];
    pair->arming[turn] = {std::min(a.cpu_ns, a.wall_ns), std::min(a.cpu_ns, a.stopped_ns),
                          a.main_cpu_ns, std::max(a.stopped_ns - a.others_ns, int64_t{0})};
  }
  return true;
}

json Examination::VerifyPairRequest(const PairUnderWay& pair) const {
  // The oracle's samples are of the last runner.
  return VerifyRequest(pair.layouts[static_cast<int>(Side::kCandidate)],
                       pair.layouts[static_cast<int>(Side::kBaseline)], pair.full_check,
                       pair.order[1] == &trial_.candidate.timed);
}

Result<bool> Examination::LookOnHost(PairUnderWay* pair, int turn) {
  Oracle& oracle = *trial_.session->oracle;
  const bool last = turn == 1;
  const Spent spent(&trial_.timing.by_purpose[last ? "verify" : "look"]);
  // The supervisor copies outputs while the oracle copies inputs.
  if (!last)
    DAVINCI_RETURN_IF_ERROR(
        oracle.Post(PublishRequest(*pair->order[1], trial_.session->facts[0].value())));
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
  std::vector<json> requests = {
      SettleRequest(timed, trial_.session->facts[0].value(), layout, call.outputs)};
  if (turn == 0) {
    requests.push_back(PublishRequest(*pair->order[1], trial_.session->facts[0].value()));
  } else {
    requests.push_back(VerifyPairRequest(*pair));
    requests.push_back(
        PrepareRequest(trial_.inputs.next_distribution, 0, false, trial_.secret.Next() >> 1));
  }
  DAVINCI_ASSIGN_OR_RETURN(auto answers, trial_.session->oracle->AskAll(requests));
  if (answers.ok.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto failure, Unreadable(answers.failure));
    return FailInPair(timed, failure.value());
  }
  DAVINCI_RETURN_IF_ERROR(answers.failure);
  call.settle_ns = Nanoseconds(answers.ok[0]);
  if (turn == 0) {
    pair->calls.publish_ns[1] = Nanoseconds(answers.ok[1]);
    return true;
  }
  pair->verified = std::move(answers.ok[1]);
  trial_.inputs.ahead = std::move(answers.ok[2]);
  return true;
}

Result<bool> Examination::MeasurePair(bool baseline_first, const std::string& distribution,
                                      bool full_check, std::vector<TimedPair>* into) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string args, DrawnInputs(distribution));
  PairUnderWay pair;
  pair.order[baseline_first ? 0 : 1] = &trial_.session->baseline;
  pair.order[baseline_first ? 1 : 0] = &trial_.candidate.timed;
  pair.full_check = full_check;
  DAVINCI_ASSIGN_OR_RETURN(const bool armed, ArmBoth(&pair, args));
  if (!armed) return false;
  const auto published = [&] {
    const Spent spent(&trial_.timing.by_purpose["publish"]);
    return trial_.session->oracle->Ask(PublishRequest(*pair.order[0], *trial_.session->facts[0]));
  }();
  DAVINCI_RETURN_IF_ERROR(published.status());
  pair.calls.publish_ns[0] = Nanoseconds(published->ok);
  for (int turn : {0, 1}) {
    CallResult& call = pair.call(turn);
    DAVINCI_ASSIGN_OR_RETURN(call, [&] {
      const Spent spent(&trial_.timing.by_purpose["call"]);
      return CallPublished(pair.order[turn], false);
    }());
    call.arming = pair.arming[turn];
    if (call.failure) return FailInPair(*pair.order[turn], *call.failure);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, trial_.job.target == Target::kCuda
                                                   ? LookOnDevice(&pair, turn)
                                                   : LookOnHost(&pair, turn));
    if (!go_on) return false;
  }
  if (auto failure = CheckOutside(trial_.candidate.timed)) return Verdict(*failure);
  std::optional<Failure> broken;
  const json comparison = Verified(pair.verified, &broken);
  if (broken) return Verdict(*broken);
  if (!comparison.at("passed").get<bool>()) {
    Failure failure = MismatchFailure(comparison, distribution, 0);
    failure.message += distribution == "task" ? " (a timed call: what is timed is what is checked)"
                                              : " (a call among the timed ones)";
    return Verdict(std::move(failure));
  }
  trial_.weights.right_since = true;
  if (auto failure = SharedOutput()) return Verdict(*failure);
  pair.calls.launch = static_cast<int>(trial_.launches.current);
  if (into != nullptr) into->push_back(std::move(pair.calls));
  return true;
}

Result<double> Examination::DeviceTurn() {
  DAVINCI_ASSIGN_OR_RETURN(const auto taken, trial_.session->oracle->Ask({{"op", "turn"}}));
  return taken.ok.at("turn_seconds").get<double>();
}

Status Examination::AwaitQuietDevice() {
  if (trial_.job.target != Target::kCuda) return Status::Ok();
  const Stopwatch waited;
  DAVINCI_ASSIGN_OR_RETURN(double turn, DeviceTurn());
  if (!trial_.context.slow_calls->LongestSeconds(DeviceKey())) {
    trial_.context.slow_calls->UsualTurn(DeviceKey(), turn);
    return Status::Ok();
  }
  while (turn > kBusyTurns * trial_.context.slow_calls->UsualTurn(DeviceKey(), turn) &&
         waited.Seconds() < kLongestWaitForQuiet) {
    trial_.context.slow_calls->EndThoseOf(DeviceKey(), kLongestBusySeconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    DAVINCI_ASSIGN_OR_RETURN(turn, DeviceTurn());
  }
  if (waited.Seconds() > 0.05)
    trial_.report.evaluation.times["waited_for_quiet_ms"] = 1e3 * waited.Seconds();
  return Status::Ok();
}

bool Examination::HasTimingCores() const {
  return trial_.context.timing_cores->exist() &&
         trial_.context.RunnerThreads(trial_.job.target) == 1;
}

// Who is timed, with the device held for it, gets cores of its own; those to be kept awake.
std::vector<int> Examination::TakeTimingCores(std::span<worker::Process* const> roles) {
  if (!HasTimingCores()) return CoresOf(roles);
  const TimingCores& cores = *trial_.context.timing_cores;
  trial_.timing.cores.emplace(cores, roles.first(2), roles[2]);
  return {cores.place().runner.front(), cores.place().oracle};
}

Result<bool> Examination::MeasureTime() {
  if (trial_.job.target == Target::kCuda) DAVINCI_RETURN_IF_ERROR(PrepareWindows());
  trial_.device.share.Release();
  std::vector<worker::Process*> roles;
  if (trial_.job.target == Target::kCuda) {
    roles = {&trial_.candidate.timed.runner->process(), &trial_.session->baseline.runner->process(),
             &trial_.session->oracle->process()};
    const auto awake =
        trial_.context.machine->KeepAwake(CoresOf(roles));  // as while pairs are timed
    DAVINCI_RETURN_IF_ERROR(MeasureWaking());               // of the host alone: it needs no device
  }
  DeviceStateEvidence& state =
      trial_.report.evidence.device_state.emplace();  // read while others may be timed
  state.before = trial_.context.machine->State(trial_.job.target);
  DAVINCI_ASSIGN_OR_RETURN(gpu::DeviceLease lease,
                           trial_.context.leases->Acquire(
                               DeviceKey(), DeviceRequest(gpu::LeaseMode::kExclusive, "timing")));
  trial_.report.evaluation.times["waited_for_device_ms"] = lease.waited_ms();
  DAVINCI_RETURN_IF_ERROR(AwaitQuietDevice());

  std::unique_ptr<AwakeCores> awake;
  if (trial_.job.target == Target::kCuda)
    awake = trial_.context.machine->KeepAwake(TakeTimingCores(roles));
  for (worker::Process* role : roles) role->set_spin(kSpinSeconds);
  const Stopwatch held;
  const auto result = MeasurePairs(std::move(lease));
  trial_.report.evaluation.times.emplace("held_device_ms",
                                         1e3 * held.Seconds());  // unless it ended before
  for (const auto& [what, seconds] : trial_.timing.by_purpose)
    trial_.report.evaluation.times["spent_ms"][what] = 1e3 * seconds;
  trial_.timing.cores.reset();
  for (worker::Process* role : roles) role->set_spin(0);
  state.after = trial_.context.machine->State(trial_.job.target);
  if (const std::string slowed = state.after.value("slowed_by", ""); !slowed.empty())
    trial_.report.evaluation.AddLabel(Label::kDeviceSlowed, {slowed});
  return result;
}

Result<std::optional<Examination::TimingPlan>> Examination::PlanTiming() {
  Stopwatch warmup;
  const bool is_known =
      trial_.job.target == Target::kCuda && trial_.session->baseline_seconds.has_value();
  const int num_warmup = is_known                             ? 0
                         : trial_.job.target == Target::kCuda ? kWarmupPairsOnCuda
                                                              : kWarmupPairsOnCpu;
  for (int i = 0; i < num_warmup; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on,
                             MeasurePair(i % 2 == 0, "task", false, &trial_.pairs.record));
    if (!go_on) return std::optional<TimingPlan>();
  }
  double pair_seconds = is_known ? 0 : warmup.Seconds() / num_warmup;
  trial_.timing.baseline_seconds = is_known ? trial_.session->baseline_seconds.value()
                                            : RecordSeconds(trial_.pairs.record.back().baseline);
  trial_.pairs.record.clear();
  DAVINCI_ASSIGN_OR_RETURN(const bool launched, LaunchMore());
  if (!launched) return std::optional<TimingPlan>();
  if (trial_.job.target == Target::kCuda) {
    DAVINCI_ASSIGN_OR_RETURN(bool go_on, WarmWindows());
    const Stopwatch watch;
    if (go_on) {
      DAVINCI_ASSIGN_OR_RETURN(
          go_on, MeasureWindows(trial_.windows.full_queue, true, false, &trial_.pairs.record));
    }
    if (!go_on) return std::optional<TimingPlan>();
    pair_seconds = watch.Seconds();
    trial_.timing.baseline_seconds =
        WindowSamples(trial_.pairs.record, trial_.windows.full_queue).back().baseline_seconds;
    trial_.session->baseline_seconds = trial_.timing.baseline_seconds;
    trial_.pairs.record.clear();
  }

  stats::StoppingOptions options;
  options.target_relative_half_width = trial_.protocol.target_half_width;
  options.target_of_effect = trial_.protocol.target_of_effect;
  options.sampling_share_of_width = trial_.protocol.sampling_share_of_width;
  options.min_pairs = std::max(trial_.protocol.min_pairs,
                               kPairsOfLaunch * static_cast<int>(trial_.launches.parked.size()));
  options.max_pairs = trial_.protocol.max_pairs;
  options.budget_seconds = trial_.protocol.timing_budget_seconds;
  options.per_call_overhead_seconds =
      std::max(0.0, pair_seconds / 2 - trial_.timing.baseline_seconds);
  options.clearly_slow_below = trial_.protocol.give_up_below;
  options.ratio.seed = trial_.secret.Next();
  options.ratio.pairs_per_block = trial_.job.target == Target::kCuda ? 1 : 2;
  options.ratio.between_process_log_sd = trial_.job.target == Target::kCuda
                                             ? kBetweenProcessLogSdOnCuda
                                             : BetweenProcessLogSdOnCpu(static_cast<double>(
                                                   trial_.session->facts[0].value().slot_bytes));
  options.ratio.between_process_seconds = trial_.job.target == Target::kCuda
                                              ? kBetweenProcessSecondsOnCuda
                                              : kBetweenProcessSecondsOnCpu;
  if (trial_.job.target == Target::kCuda)
    options.ratio.baseline_kernels = std::max(
        1,
        trial_.session->facts[0].value().raw.value("work", json::object()).value("operators", 1));
  DAVINCI_ASSIGN_OR_RETURN(const stats::MeasurementPlan plan,
                           stats::PlanMeasurement(trial_.timing.baseline_seconds, options));
  return std::optional<TimingPlan>({options, plan});
}

Result<std::optional<Examination::TimingPhase>> Examination::MeasurePhase(
    const TimingPlan& timing) {
  const std::optional<TimingPhase> verdict_stands;
  const auto min_pairs = static_cast<uint64_t>(trial_.protocol.min_pairs);
  stats::StoppingCriterion criterion(timing.plan, timing.options);
  TimingPhase phase;
  trial_.pairs.record.clear();
  trial_.pairs.stress.clear();
  trial_.pairs.latency.clear();
  trial_.pairs.first_call.clear();
  trial_.pairs.alone.clear();
  const Stopwatch spent;
  stats::Occasional reweighing;
  stats::Occasional stress;
  stats::Occasional truth;
  // The kind of a pair's inputs is settled while the one before is under way, which may draw them.
  const uint64_t first_stress = trial_.secret.Below(min_pairs - 1);
  const bool stresses = trial_.protocol.stress_share > 0 && !trial_.candidate.correct_on.empty();
  uint64_t num_measured = 0;
  size_t num_visits = 0;
  double off_record = 0;  // seconds of the pairs that begin visits, and of ConfirmCharge()
  bool is_confirmed =
      trial_.protocol.staged;  // there a charge in doubt stays one: the device is wanted
  const auto measure = [&](bool baseline_first, bool full_check,
                           std::vector<TimedPair>* into) -> Result<bool> {
    const std::string distribution = std::exchange(trial_.inputs.next_distribution, "task");
    const bool due =
        num_measured++ == first_stress ||
        (trial_.secret.Uniform() < trial_.protocol.stress_share && stress.Fits(spent.Seconds()));
    if (due && stresses)
      trial_.inputs.next_distribution =
          trial_.candidate.correct_on[trial_.secret.Below(trial_.candidate.correct_on.size())];
    if (distribution == "task" && trial_.job.target == Target::kCuda) {
      DAVINCI_ASSIGN_OR_RETURN(const bool go_on, MeasureWindows(trial_.windows.full_queue,
                                                                baseline_first, full_check, into));
      return go_on && into != nullptr ? Corroborate(baseline_first) : Result<bool>(go_on);
    }
    if (distribution == "task" || into == nullptr)
      return MeasurePair(baseline_first, distribution, full_check || distribution != "task", into);
    const Stopwatch watch;
    auto go_on = MeasurePair(baseline_first, distribution, true, &trial_.pairs.stress);
    stress.Took(watch.Seconds());
    return go_on;
  };
  // The distance to the next doubles at most: a cache of derived weights does not live through half
  // of the pairs, whenever it was filled.
  const auto reweigh = [&]() -> Result<bool> {
    const Stopwatch watch;
    const int before = trial_.weights.count;
    DAVINCI_ASSIGN_OR_RETURN(const auto failure, Reweigh());
    if (failure) return Verdict(*failure);
    bool go_on = true;
    // Who keeps something by version renews it off the record.
    for (size_t launch = 0;
         go_on && trial_.weights.count > before && launch < trial_.launches.parked.size();
         ++launch) {
      UseLaunch(launch);
      DAVINCI_ASSIGN_OR_RETURN(go_on, measure(true, false, nullptr));
    }
    reweighing.Took(watch.Seconds());
    return go_on;
  };
  uint64_t next_reweigh = 1 + trial_.secret.Below(min_pairs - 1);
  const uint64_t first_truth = trial_.secret.Below(min_pairs);
  const auto visit = [&](size_t launch) -> Result<bool> {
    if (trial_.launches.parked.size() < 2) return true;
    UseLaunch(launch);
    const Stopwatch watch;
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, measure(true, false, nullptr));
    off_record += watch.Seconds();
    return go_on;
  };
  while (!phase.decision.stop()) {
    if (trial_.pairs.record.size() >= next_reweigh && reweighing.Fits(spent.Seconds())) {
      DAVINCI_ASSIGN_OR_RETURN(const bool go_on, reweigh());
      if (!go_on) return verdict_stands;
      next_reweigh =
          trial_.pairs.record.size() + 1 + trial_.secret.Below(trial_.pairs.record.size() + 1);
    }
    // A B B A: what drifts hits both sides alike. On cpu B A A B follows: what came between two
    // blocks, as other weights, makes the next call a cold one.
    const size_t block = trial_.pairs.record.size() / 2;
    const bool turned = trial_.job.target == Target::kCpu && block % 2 == 1;
    const bool baseline_first = (trial_.pairs.record.size() % 2 == 0) != turned;
    if (const size_t visited = block / kBlocksOfVisit; visited >= num_visits) {
      num_visits = visited + 1;
      DAVINCI_ASSIGN_OR_RETURN(const bool go_on, visit(visited % trial_.launches.parked.size()));
      if (!go_on) return verdict_stands;
    }
    UseLaunch(block / kBlocksOfVisit % trial_.launches.parked.size());
    const bool chosen = trial_.secret.Uniform() < trial_.protocol.full_check_share;
    const bool first = trial_.pairs.record.size() == first_truth && !stresses;
    const bool full_check = first || (chosen && truth.Fits(spent.Seconds()));
    const Stopwatch watch;
    const size_t num_pairs = trial_.pairs.record.size();
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on,
                             measure(baseline_first, full_check, &trial_.pairs.record));
    if (!go_on) return verdict_stands;
    if (trial_.pairs.record.size() == num_pairs) continue;
    if (full_check) truth.Took(watch.Seconds());
    phase.samples = Samples();
    const double on_record =
        spent.Seconds() - reweighing.total_seconds() - stress.total_seconds() - off_record;
    DAVINCI_ASSIGN_OR_RETURN(phase.decision, criterion.Look(phase.samples, on_record));
    const bool is_settled = is_confirmed || !(trial_.charges.record > 0 || trial_.charges.in_doubt);
    if (!phase.decision.stop() || is_settled) continue;
    is_confirmed = true;
    const Stopwatch confirming;
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on_still, ConfirmCharge());
    if (!go_on_still) return verdict_stands;
    off_record += confirming.Seconds();
    phase.samples = Samples();
    // `criterion` looks again only after further pairs.
    stats::StoppingCriterion anew(timing.plan, timing.options);
    DAVINCI_ASSIGN_OR_RETURN(phase.decision, anew.Look(phase.samples, on_record));
  }
  trial_.report.evidence.stress_while_timing = trial_.pairs.stress.size();
  return std::optional<TimingPhase>(std::move(phase));
}

// However few pairs a busy machine left room for: what was kept from weights is wrong now. Of no
// record, so on cuda others may share the device.
Result<bool> Examination::CheckOtherWeights() {
  UseLaunch(0);
  const int before = trial_.weights.count;
  DAVINCI_ASSIGN_OR_RETURN(const auto failure, Reweigh());
  if (failure) return Verdict(*failure);
  if (trial_.weights.count == before) return true;
  const std::string distribution = std::exchange(trial_.inputs.next_distribution, "task");
  if (distribution == "task" && trial_.job.target == Target::kCuda)
    return MeasureWindows(trial_.windows.full_queue, true, false, nullptr);
  return MeasurePair(true, distribution, distribution != "task", nullptr);
}

Result<bool> Examination::MeasurePairs(gpu::DeviceLease lease) {
  const Stopwatch held;
  if (trial_.job.target == Target::kCpu) DAVINCI_RETURN_IF_ERROR(MeasureWaking());
  DAVINCI_ASSIGN_OR_RETURN(const auto timing, PlanTiming());
  if (!timing) return false;
  // A candidate under suspicion is measured a second time: a neighbour on the machine may have
  // come between. The pairs of a phase under suspicion are never used.
  for (const bool again : {false, true}) {
    DAVINCI_ASSIGN_OR_RETURN(const auto phase, MeasurePhase(*timing));
    if (!phase) return false;
    const auto failure = CheckClocks();
    if (again && failure) return Verdict(*failure);
    const Average average = OnAverage();
    const double median = phase->decision.ratio.value().median;
    const bool uneven = IsUneven(average, phase->decision.ratio.value().low);
    if (!again && (failure || uneven)) {
      trial_.report.evidence.timed_again =
          failure ? failure->message
                  : fmt::format("{:.3g} times as fast on average, {:.3g} in the middle",
                                average.ratio, median);
      continue;
    }
    if (trial_.job.target == Target::kCuda) {
      trial_.timing.cores.reset();
      lease.Release();
      trial_.report.evaluation.times["held_device_ms"] = 1e3 * held.Seconds();
      DAVINCI_RETURN_IF_ERROR(ShareDevice());
    }
    DAVINCI_ASSIGN_OR_RETURN(const bool right_to_the_end, CheckOtherWeights());
    if (!right_to_the_end) return false;
    lease.Release();
    trial_.device.share.Release();
    ConcludeTiming(timing->options, *phase, uneven ? std::optional(average) : std::nullopt);
    break;
  }
  return true;
}

void Examination::ConcludeTiming(const stats::StoppingOptions& options, const TimingPhase& phase,
                                 const std::optional<Average>& uneven) {
  trial_.report.evidence.stopped_because = stats::StopReasonName(phase.decision.reason);
  stats::PairedRatio ratio = phase.decision.ratio.value();
  if (ratio.launches.size() > 1) trial_.report.evidence.launches = ratio.launches;
  const double median_seconds = [&] {
    std::vector<double> seconds;
    for (const stats::PairedSample& sample : phase.samples)
      seconds.push_back(sample.candidate_seconds);
    return stats::Median(seconds);
  }();
  if (uneven) {
    // Twice in a row: not a neighbour's doing. Callers pay the average.
    trial_.report.evaluation.AddLabel(Label::kUnevenCalls, {fmt::format("{:.3g}", ratio.median),
                                                            fmt::format("{:.3g}", uneven->ratio)});
    ratio = stats::AtAverage(ratio, uneven->ratio, options.ratio.band);
  }
  if (trial_.job.target == Target::kCpu) ratio = WithinLoad(ratio, options.ratio);
  if (trial_.arming.doubt > 0)
    ratio =
        stats::WithCostlierCalls(ratio, median_seconds, trial_.arming.doubt, options.ratio.band);
  if (trial_.arming.seconds > 0) {
    ratio =
        stats::WithDoubtfulCharge(ratio, median_seconds, trial_.arming.seconds, options.ratio.band);
    trial_.report.evaluation.AddLabel(Label::kWorkBetweenCalls,
                                      {fmt::format("{:.3f}", 1e3 * trial_.arming.seconds)});
  }
  if (trial_.charges.host_pace.ratio_log_sd > 0)
    ratio = stats::WithError(ratio, trial_.charges.host_pace.ratio_log_sd, options.ratio.band);
  if (trial_.charges.host_pace.with_one_pace != 1)
    ratio = stats::WithDoubt(ratio, trial_.charges.host_pace.with_one_pace, options.ratio.band);
  if (trial_.charges.record > 0) {
    // A call alone varies by some microseconds, so an honest kernel may be charged.
    ratio =
        stats::WithDoubtfulCharge(ratio, median_seconds, trial_.charges.record, options.ratio.band);
    trial_.report.evaluation.AddLabel(Label::kChargedWindows,
                                      {fmt::format("{:.3f}", 1e3 * trial_.charges.record)});
  }
  RecordClocks(phase.samples, ratio, options.ratio);
  if (const int64_t pages = trial_.pairs.record.back().candidate.unwritten_pages; pages > kFewPages)
    trial_.report.evaluation.AddLabel(Label::kUnwrittenPages, {std::to_string(pages)});
  if (!ratio.significant && !IsNarrow({ratio.decided_low, ratio.decided_high, ""}))
    trial_.report.evaluation.AddLabel(
        Label::kInconclusive,
        {fmt::format("{:.3g}", ratio.decided_low), fmt::format("{:.3g}", ratio.decided_high)});
  if (ratio.unsteadiness > stats::kSteady)
    trial_.report.evaluation.AddLabel(Label::kUnsteadyTiming,
                                      {fmt::format("{:.1f}", ratio.unsteadiness)});
}

}  // namespace davinci::judge
