#include "davinci/judge/timing/timed_windows.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "davinci/judge/check/calls.h"
#include "davinci/judge/check/returned_outputs.h"
#include "davinci/judge/check/verify.h"
#include "davinci/judge/roles/output_arena.h"
#include "davinci/judge/timing/timed_calls.h"
#include "davinci/judge/timing/window_times.h"
#include "davinci/judge/trial/device_share.h"
#include "davinci/judge/trial/verdict.h"
#include "davinci/stats/window_time.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Calls in a window at most.
constexpr int kMostCalls = 12;
// Time for which the oracle keeps the device after a process was let go, so that its host is awake
// and its first work waits; longer where the host is not to show at all.
constexpr double kHoldSeconds = 2.5e-4;
constexpr double kHoldAloneSeconds = 6e-4;
// Calls as short as this are made alone so many times for each window of several: the turn of the
// device varies by some microseconds.
constexpr double kShortSeconds = 1e-4;
constexpr size_t kAloneOfShort = 3;
// Full-queue pairs for each latency pair where a window holds one call: only latency shows the
// host's time there.
constexpr int kLatencyOfOneCall = 3;
// Windows of one call that decide a charge, and the seconds they may take: the median of nine to
// fifteen errs by 2 to 5 µs.
constexpr size_t kAloneToDecide = 45;
constexpr double kConfirmSeconds = 0.5;
// Inputs drawn before the device is exclusive: of so many windows, in so many bytes.
constexpr int kWindowsAhead = 14;
constexpr int64_t kBytesAhead = int64_t{2} << 30;
// Windows in a full queue come with an empty one of the same process this often: what is taken off
// is the median of all of them.
constexpr size_t kPairsPerEmpty = 2;

Status BindBuffers(Trial& trial) {
  if (trial.session->buffers.is_null()) {
    DAVINCI_ASSIGN_OR_RETURN(
        auto made, trial.session->oracle->Ask({{"op", "buffers"}, {"count", kMostCalls}}));
    trial.session->buffers = made.ok;
  }
  json bind = trial.session->buffers;
  bind["op"] = "buffers";
  for (Timed* timed : {&trial.session->baseline, &trial.candidate.timed}) {
    if (timed->has_buffers) continue;
    const Answer bound = timed->runner->AskFrozen(bind, trial.protocol.load_timeout_seconds);
    if (bound.failure) return Internal("the buffers of a runner: " + bound.failure->message);
    timed->has_buffers = true;
  }
  return Status::Ok();
}

// Does a call leave something in buffers that the next begins with?
bool KeepsState(const Session& session) {
  return !session.facts[0].value().raw.value("kept", json::array()).empty();
}

void PlanWindows(Trial& trial) {
  const VariantFacts& facts = trial.session->facts[0].value();
  // What a call leaves in buffers is part of its answer, and of what the next begins with; and one
  // seed comes with GO.
  const bool one = facts.reseed_calls || KeepsState(*trial.session);
  const int most = std::min({trial.protocol.window_calls, facts.num_slots,
                             trial.session->buffers.at("count").get<int>()});
  trial.windows.full_queue.calls =
      one ? 1 : stats::CallsPerWindow(trial.timing.baseline_seconds, most);
  trial.windows.full_queue.flush = true;
  trial.windows.full_queue.hold_seconds = kHoldSeconds;
  trial.windows.from_idle = trial.windows.full_queue;
  trial.windows.from_idle.idle = true;
  trial.windows.alone = {1, false, false, kHoldAloneSeconds};
}

// Small inputs of most windows are drawn while others share the device.
Status DrawAhead(Trial& trial) {
  trial.windows.ahead.clear();
  const VariantFacts& facts = trial.session->facts[0].value();
  const int most = kWindowsAhead * std::min(trial.protocol.window_calls, facts.num_slots);
  const int64_t room = kBytesAhead / std::max<int64_t>(facts.slot_bytes, 1);
  const int count = static_cast<int>(std::min<int64_t>(most, room));
  if (count < trial.protocol.window_calls) return Status::Ok();
  json seeds = json::array();
  for (int i = 0; i < count; ++i) {
    trial.windows.ahead.push_back(trial.secret.Next() >> 1);
    seeds.push_back(trial.windows.ahead.back());
  }
  return trial.session->oracle->Ask({{"op", "draw_ahead"}, {"seeds", seeds}}).status();
}

// Of inputs of a timed call: drawn ahead, if any are left.
uint64_t NextSeed(Trial& trial) {
  if (trial.windows.ahead.empty()) return trial.secret.Next() >> 1;
  const uint64_t seed = trial.windows.ahead.back();
  trial.windows.ahead.pop_back();
  return seed;
}

Result<CallResult> CallWindow(Trial& trial, Timed* timed, const WindowKind& kind, uint64_t seed) {
  CallOptions options;
  options.timeout_seconds = CallTimeout(trial);
  options.spin_seconds = kSpinSeconds;
  options.seed = seed;
  options.num_calls = static_cast<size_t>(kind.calls);
  options.is_empty = kind.empty;
  Status posted;
  options.on_thawed = [&] {
    posted = trial.session->oracle->Post({{"op", "release"}, {"seconds", kind.hold_seconds}});
  };
  const Spent spent(&trial.timing.by_purpose["call"]);
  CallResult call = timed->runner->Call(options);
  DAVINCI_RETURN_IF_ERROR(posted);
  if (call.start_ns == 0) return call;  // it was never let go
  DAVINCI_ASSIGN_OR_RETURN(const auto released, trial.session->oracle->Await("release"));
  timed->outside_cpu_ns.push_back(call.outside_cpu_ns);
  call.held_ns = released.ok.at("at_ns").get<int64_t>() - call.start_ns;
  call.window_ns = std::max<int64_t>(1, call.wall_ns - call.held_ns);
  return call;
}

json ArmWindow(Trial& trial, Timed* timed, const WindowKind& kind, const json& args) {
  const VariantFacts& facts = trial.session->facts[0].value();
  std::vector<int64_t>& shifts = trial.windows.shifts[static_cast<int>(timed->side)];
  if (!kind.empty) {
    std::vector<int> slots(static_cast<size_t>(facts.num_slots));
    std::iota(slots.begin(), slots.end(), 0);
    shifts.clear();
    for (int i = 0; i < kind.calls && !slots.empty(); ++i) {
      const size_t at = trial.secret.Below(slots.size());
      shifts.push_back(slots[at] * facts.slot_bytes);
      slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(at));
    }
    // Only MeasureFirstCall() makes more calls than there are slots, all on the same inputs.
    shifts.resize(static_cast<size_t>(kind.calls), shifts.back());
    trial.inputs.shift[static_cast<int>(timed->side)] = shifts.back();
    if (timed->side == Side::kCandidate) trial.inputs.last_args = args.back().get<std::string>();
  }
  return {{"op", "arm"},
          {"window",
           {{"calls", kind.calls},
            {"shifts", kind.empty ? json::array() : json(shifts)},
            {"args", kind.empty ? json::array() : args},
            {"flush", kind.flush},
            {"idle", kind.idle},
            {"seeded", facts.reseed_calls},
            {"empty", kind.empty}}}};
}

// The two halves of a window: its process prepares its arguments; it is let go.
void BeginWindow(Trial& trial, Timed* timed, const WindowKind& kind, const json& drawn) {
  timed->runner->BeginFrozen(ArmWindow(trial, timed, kind, drawn.at("args")));
}

// One window of a process that is being armed. `pair`: where the call's times go; its publishing,
// too.
Result<CallResult> FinishWindow(Trial& trial, Timed* timed, const WindowKind& kind,
                                const json& drawn, TimedPair* pair) {
  const Answer armed = [&] {
    const Spent spent(&trial.timing.by_purpose["arm"]);
    return timed->runner->FinishFrozen(CallTimeout(trial));
  }();
  CallResult call;
  call.failure = armed.failure;
  if (call.failure) return call;
  const int side = static_cast<int>(timed->side);
  std::vector<json> requests;
  if (!kind.empty)
    requests.push_back({{"op", "publish_several"},
                        {"name", timed->name},
                        {"shifts", trial.windows.shifts[side]},
                        {"cool", !kind.flush}});
  requests.push_back({{"op", "hold"}});
  const auto published = [&] {
    const Spent spent(&trial.timing.by_purpose["publish"]);
    return trial.session->oracle->AskAll(requests);
  }();
  DAVINCI_RETURN_IF_ERROR(published.status());
  DAVINCI_RETURN_IF_ERROR(published->failure);
  if (!kind.empty) pair->publish_ns[side] = Nanoseconds(published->ok[0]);
  const uint64_t seed = trial.session->facts[0].value().reseed_calls
                            ? drawn.at("call_seed").get<uint64_t>()
                            : trial.secret.Next() >> 1;
  DAVINCI_ASSIGN_OR_RETURN(call, CallWindow(trial, timed, kind, seed));
  call.seed = seed;
  call.arming = {std::min(armed.cpu_ns, armed.wall_ns), std::min(armed.cpu_ns, armed.stopped_ns),
                 armed.main_cpu_ns, std::max(armed.stopped_ns - armed.others_ns, int64_t{0})};
  return call;
}

// A process that was stopped finds its code and data out of the caches, so the first call from an
// idle queue takes some 0.1 ms longer than the next: nothing that a running program pays. What is
// taken off for it is measured on the baseline, beside each pair: windows of one call where a pair
// has several, and of two where it has one.
Status MeasureFirstCall(Trial& trial) {
  const bool is_asked = trial.protocol.latency_every == 1 || trial.windows.from_idle.calls == 1;
  if (!is_asked || trial.session->buffers.at("count").get<int>() < 2) return Status::Ok();
  WindowKind kind = trial.windows.from_idle;
  kind.calls = trial.windows.from_idle.calls > 1 ? 1 : 2;
  DAVINCI_ASSIGN_OR_RETURN(
      const auto drawn,
      trial.session->oracle->Ask(
          {{"op", "draw"},
           {"seeds", std::vector<uint64_t>(static_cast<size_t>(kind.calls), NextSeed(trial))}}));
  trial.inputs.ahead.reset();  // the oracle forgets them
  WindowKind empty = kind;
  empty.empty = true;
  TimedPair pair;
  stats::WindowReading reading;
  for (const WindowKind* one : {&empty, &kind}) {
    BeginWindow(trial, &trial.session->baseline, *one, drawn.ok);
    DAVINCI_ASSIGN_OR_RETURN(const CallResult ran,
                             FinishWindow(trial, &trial.session->baseline, *one, drawn.ok, &pair));
    if (ran.failure) return ReferenceFailure(trial, *ran.failure);
    const double seconds = 1e-9 * static_cast<double>(ran.window_ns);
    if (one->empty)
      reading.empty_seconds = seconds;
    else
      reading.with_calls_seconds = seconds;
  }
  trial.pairs.first_call.push_back(reading);
  return Status::Ok();
}

// Do two calls of a window return the same memory, as a captured graph does?
bool ReturnsOneMemory(const CallResult& call, const VariantFacts& facts) {
  std::vector<OutputTensor> before;
  for (const Returned& returned : call.returned) {
    if (returned.outputs.size() != facts.outputs.size()) return false;  // wrong, as will be said
    const std::vector<size_t> own = NotLent(returned.outputs, facts);
    for (const size_t i : own)
      for (const OutputTensor& other : before)
        if (Overlap(returned.outputs[i], other)) return true;
    for (const size_t i : own) before.push_back(returned.outputs[i]);
  }
  return false;
}

// The oracle's first look at what a window has left behind.
Result<bool> LookAtWindow(Trial& trial, Timed* timed, const WindowKind& kind, CallResult* call,
                          json* layouts) {
  const VariantFacts& facts = trial.session->facts[0].value();
  const Spent spent(&trial.timing.by_purpose["look"]);
  json all = json::array();
  json which = json::array();
  for (const Returned& returned : call->returned) {
    CallResult one;
    one.structure = returned.structure;
    one.outputs = returned.outputs;
    json layout;
    if (const auto failure = LocateOutputs(trial, *timed, &one, 0, &layout))
      return FailInPair(trial, *timed, *failure);
    for (const size_t i : NotLent(returned.outputs, facts)) which.push_back(all.size() + i);
    for (const json& output : layout) all.push_back(output);
    layouts->push_back(std::move(layout));
  }
  json settle = {{"op", "settle"}, {"outputs", std::move(all)}};
  if (timed->side == Side::kCandidate && !trial.candidate.shares_outputs)
    settle["overwrite"] = {{"seed", trial.secret.Next() >> 1}, {"which", std::move(which)}};
  std::vector<json> requests = {std::move(settle)};
  if (kind.flush)
    requests.push_back({{"op", "filled"},
                        {"seed", call->seed},
                        {"count", kind.calls},
                        {"secret", trial.secret.Next() >> 1}});
  DAVINCI_ASSIGN_OR_RETURN(const auto answers, trial.session->oracle->AskAll(requests));
  if (answers.ok.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto failure, UnreadableOutput(trial, answers.failure));
    return FailInPair(trial, *timed, failure.value());
  }
  DAVINCI_RETURN_IF_ERROR(answers.failure);
  call->settle_ns = Nanoseconds(answers.ok[0]);
  if (!kind.flush || answers.ok[1].at("filled").get<bool>()) return true;
  return FailInPair(
      trial, *timed,
      Broken(Rule::kFlushLeftOut,
             "the candidate's process did not write what is written between timed calls"));
}

Result<bool> VerifyWindow(Trial& trial, const TimedPair& pair, const json (&layouts)[2],
                          bool last_is_ours, bool full_check) {
  const Spent spent(&trial.timing.by_purpose["verify"]);
  const size_t chosen = trial.secret.Below(pair.candidate.returned.size());
  json calls = json::array();
  for (size_t i = 0; i < pair.candidate.returned.size(); ++i) {
    json request = VerifyRequest(trial, layouts[static_cast<int>(Side::kCandidate)][i],
                                 layouts[static_cast<int>(Side::kBaseline)][i],
                                 full_check && i == chosen, last_is_ours);
    if (request.contains("intact"))
      request["intact"]["shift"] = trial.windows.shifts[static_cast<int>(Side::kCandidate)][i];
    request["left"]["outputs"]["shift"] =
        trial.windows.shifts[static_cast<int>(Side::kCandidate)][i];
    request["left"]["baseline"]["shift"] =
        trial.windows.shifts[static_cast<int>(Side::kBaseline)][i];
    calls.push_back(std::move(request));
  }
  DAVINCI_ASSIGN_OR_RETURN(
      const auto verified,
      trial.session->oracle->Ask({{"op", "verify_several"}, {"calls", std::move(calls)}}));
  if (auto failure = CheckOutside(trial, trial.candidate.timed)) return Verdict(trial, *failure);
  for (const json& found : verified.ok.at("calls")) {
    std::optional<Failure> broken;
    const json comparison = Verified(found, &broken);
    if (broken) return Verdict(trial, *broken);
    if (comparison.at("passed").get<bool>()) continue;
    Failure failure = MismatchFailure(trial, comparison, "task", 0);
    failure.message += " (a timed call: what is timed is what is checked)";
    return Verdict(trial, std::move(failure));
  }
  trial.weights.right_since = true;
  if (auto failure = SharedOutput(trial.candidate)) return Verdict(trial, *failure);
  return true;
}

}  // namespace

Status PrepareWindows(Trial& trial) {
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_RETURN_IF_ERROR(BindBuffers(trial));
  return DrawAhead(trial);
}

Result<bool> MeasureWindows(Trial& trial, const WindowKind& kind, bool baseline_first,
                            bool full_check, std::vector<TimedPair>* into) {
  json seeds = json::array();
  for (int i = 0; i < kind.calls; ++i) seeds.push_back(NextSeed(trial));
  trial.inputs.ahead.reset();  // the oracle forgets them
  ++trial.windows.num_pairs;
  const auto asked = [&] {
    const Spent spent(&trial.timing.by_purpose["draw"]);
    return trial.session->oracle->Ask({{"op", "draw"}, {"seeds", seeds}});
  }();
  DAVINCI_RETURN_IF_ERROR(asked.status());
  const json& drawn = asked->ok;
  Timed* const order[2] = {baseline_first ? &trial.session->baseline : &trial.candidate.timed,
                           baseline_first ? &trial.candidate.timed : &trial.session->baseline};
  WindowKind empty = kind;
  empty.empty = true;
  const bool with_empty =
      into != &trial.pairs.record || trial.pairs.record.size() % kPairsPerEmpty == 0;
  struct Window {
    Timed* timed;
    const WindowKind* kind;
  };
  std::vector<Window> windows;
  for (Timed* timed : order) {
    const bool empty_first = with_empty && trial.secret.Below(2) == 0;
    if (empty_first) windows.push_back({timed, &empty});
    windows.push_back({timed, &kind});
    if (with_empty && !empty_first) windows.push_back({timed, &empty});
  }
  TimedPair pair;
  json layouts[2] = {json::array(), json::array()};
  const Window* armed = nullptr;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& now = windows[i];
    if (armed != &now) BeginWindow(trial, now.timed, *now.kind, drawn);
    DAVINCI_ASSIGN_OR_RETURN(CallResult ran,
                             FinishWindow(trial, now.timed, *now.kind, drawn, &pair));
    if (ran.failure) return FailInPair(trial, *now.timed, *ran.failure);
    CallResult& call = now.timed->side == Side::kBaseline ? pair.baseline : pair.candidate;
    if (now.kind->empty) {
      call.empty_ns = ran.window_ns;
      continue;
    }
    ran.empty_ns = call.empty_ns;
    call = std::move(ran);
    if (kind.calls > 1 && ReturnsOneMemory(call, *trial.session->facts[0]) && into == nullptr) {
      trial.windows.one_memory = true;
      return true;
    }
    // The baseline is armed meanwhile, unless it restores buffers: the oracle would count that work
    // on the device as the candidate's. Never the candidate: what its finalisers start on the
    // device shows in the oracle's first work after arming (CheckIdleDevice).
    const bool is_next = i + 1 < windows.size() && windows[i + 1].timed != now.timed &&
                         now.timed == &trial.candidate.timed && !KeepsState(*trial.session);
    armed = is_next ? &windows[i + 1] : nullptr;
    if (armed != nullptr) BeginWindow(trial, armed->timed, *armed->kind, drawn);
    const auto go_on =
        LookAtWindow(trial, now.timed, kind, &call, &layouts[static_cast<int>(now.timed->side)]);
    if (armed != nullptr && (!go_on.ok() || !*go_on))
      (void)armed->timed->runner->FinishFrozen(CallTimeout(trial));
    DAVINCI_RETURN_IF_ERROR(go_on.status());
    if (!*go_on) return false;
  }
  DAVINCI_ASSIGN_OR_RETURN(
      const bool right,
      VerifyWindow(trial, pair, layouts, order[1] == &trial.candidate.timed, full_check));
  if (!right) return false;
  if (into != nullptr) into->push_back(std::move(pair));
  return true;
}

Result<bool> WarmWindows(Trial& trial) {
  PlanWindows(trial);
  DAVINCI_ASSIGN_OR_RETURN(const auto calibrated,
                           trial.session->oracle->Ask({{"op", "calibrate"}}));
  trial.windows.between_events_seconds = calibrated.ok.at("between_events_seconds").get<double>();
  DAVINCI_ASSIGN_OR_RETURN(bool go_on,
                           MeasureWindows(trial, trial.windows.full_queue, true, false, nullptr));
  if (go_on && trial.windows.one_memory && trial.windows.full_queue.calls > 1) {
    trial.windows.full_queue.calls = trial.windows.from_idle.calls = 1;
    DAVINCI_ASSIGN_OR_RETURN(
        go_on, MeasureWindows(trial, trial.windows.full_queue, false, false, nullptr));
  }
  return go_on;
}

Result<bool> Corroborate(Trial& trial, bool baseline_first) {
  const size_t each = trial.timing.baseline_seconds < kShortSeconds ? kAloneOfShort : 1;
  const bool alone_is_due =
      trial.pairs.alone.size() <=
      each * (trial.pairs.record.size() / static_cast<size_t>(trial.protocol.alone_every));
  bool go_on = true;
  for (size_t i = 0; go_on && alone_is_due && i < each; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(go_on, MeasureWindows(trial, trial.windows.alone, baseline_first,
                                                   false, &trial.pairs.alone));
  }
  const int every = trial.windows.full_queue.calls == 1
                        ? std::min(trial.protocol.latency_every, kLatencyOfOneCall)
                        : trial.protocol.latency_every;
  if (!go_on || trial.pairs.latency.size() > trial.pairs.record.size() / static_cast<size_t>(every))
    return go_on;
  DAVINCI_RETURN_IF_ERROR(MeasureFirstCall(trial));
  return MeasureWindows(trial, trial.windows.from_idle, baseline_first, false,
                        &trial.pairs.latency);
}

Result<bool> ConfirmCharge(Trial& trial) {
  const Stopwatch watch;
  while (trial.pairs.alone.size() < kAloneToDecide && watch.Seconds() < kConfirmSeconds) {
    bool go_on = true;
    const bool baseline_first = trial.pairs.alone.size() % 2 == 0;
    for (size_t i = 0; go_on && i < kAloneOfShort; ++i) {
      DAVINCI_ASSIGN_OR_RETURN(go_on, MeasureWindows(trial, trial.windows.alone, baseline_first,
                                                     false, &trial.pairs.alone));
    }
    if (go_on) {
      DAVINCI_ASSIGN_OR_RETURN(go_on, MeasureWindows(trial, trial.windows.from_idle, baseline_first,
                                                     false, &trial.pairs.latency));
    }
    if (!go_on) return false;
  }
  ChargeWindows(trial);
  return true;
}

}  // namespace davinci::judge
