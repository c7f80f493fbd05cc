// Time on a device: windows of several calls in a full queue, held against windows that are the
// same but for the calls (docs/judge-internals.md, "Time of record on cuda").

#include <algorithm>
#include <numeric>
#include <utility>

#include "davinci/judge/examination.h"
#include "davinci/stats/summary.h"
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

}  // namespace

// With the device shared: everything but what is timed.
Status Examination::PrepareWindows() {
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_RETURN_IF_ERROR(BindBuffers());
  return DrawAhead();
}

Status Examination::BindBuffers() {
  if (session_->buffers.is_null()) {
    DAVINCI_ASSIGN_OR_RETURN(auto made,
                             session_->oracle->Ask({{"op", "buffers"}, {"count", kMostCalls}}));
    session_->buffers = made.ok;
  }
  json bind = session_->buffers;
  bind["op"] = "buffers";
  for (Timed* timed : {&session_->baseline, &candidate_}) {
    if (timed->has_buffers) continue;
    const Answer bound = timed->runner->AskFrozen(bind, protocol_.load_timeout_seconds);
    if (bound.failure) return Internal("the buffers of a runner: " + bound.failure->message);
    timed->has_buffers = true;
  }
  return Status::Ok();
}

bool Examination::KeepsState() const {
  return !session_->facts[0].value().raw.value("kept", json::array()).empty();
}

void Examination::PlanWindows() {
  const VariantFacts& facts = session_->facts[0].value();
  // What a call leaves in buffers is part of its answer, and of what the next begins with; and one
  // seed comes with GO.
  const bool one = facts.reseed_calls || KeepsState();
  const int most =
      std::min({protocol_.window_calls, facts.num_slots, session_->buffers.at("count").get<int>()});
  full_queue_.calls = one ? 1 : stats::CallsPerWindow(baseline_seconds_, most);
  full_queue_.flush = true;
  full_queue_.hold_seconds = kHoldSeconds;
  from_idle_ = full_queue_;
  from_idle_.idle = true;
  alone_ = {1, false, false, kHoldAloneSeconds};
}

// Small inputs of most windows are drawn while others share the device.
Status Examination::DrawAhead() {
  ahead_.clear();
  const VariantFacts& facts = session_->facts[0].value();
  const int most = kWindowsAhead * std::min(protocol_.window_calls, facts.num_slots);
  const int64_t room = kBytesAhead / std::max<int64_t>(facts.slot_bytes, 1);
  const int count = static_cast<int>(std::min<int64_t>(most, room));
  if (count < protocol_.window_calls) return Status::Ok();
  json seeds = json::array();
  for (int i = 0; i < count; ++i) {
    ahead_.push_back(secret_.Next() >> 1);
    seeds.push_back(ahead_.back());
  }
  return session_->oracle->Ask({{"op", "draw_ahead"}, {"seeds", seeds}}).status();
}

uint64_t Examination::NextSeed() {
  if (ahead_.empty()) return secret_.Next() >> 1;
  const uint64_t seed = ahead_.back();
  ahead_.pop_back();
  return seed;
}

Result<CallResult> Examination::CallWindow(Timed* timed, const WindowKind& kind, uint64_t seed) {
  CallOptions options;
  options.timeout_seconds = CallTimeout();
  options.spin_seconds = kSpinSeconds;
  options.seed = seed;
  options.num_calls = static_cast<size_t>(kind.calls);
  options.is_empty = kind.empty;
  Status posted;
  options.on_thawed = [&] {
    posted = session_->oracle->Post({{"op", "release"}, {"seconds", kind.hold_seconds}});
  };
  const Spent spent(&spent_["call"]);
  CallResult call = timed->runner->Call(options);
  DAVINCI_RETURN_IF_ERROR(posted);
  if (call.start_ns == 0) return call;  // it was never let go
  DAVINCI_ASSIGN_OR_RETURN(const auto released, session_->oracle->Await("release"));
  timed->outside_cpu_ns.push_back(call.outside_cpu_ns);
  call.held_ns = released.ok.at("at_ns").get<int64_t>() - call.start_ns;
  call.window_ns = std::max<int64_t>(1, call.wall_ns - call.held_ns);
  return call;
}

json Examination::ArmWindow(Timed* timed, const WindowKind& kind, const json& args) {
  const VariantFacts& facts = session_->facts[0].value();
  std::vector<int64_t>& shifts = window_shifts_[static_cast<int>(timed->side)];
  if (!kind.empty) {
    std::vector<int> slots(static_cast<size_t>(facts.num_slots));
    std::iota(slots.begin(), slots.end(), 0);
    shifts.clear();
    for (int i = 0; i < kind.calls && !slots.empty(); ++i) {
      const size_t at = secret_.Below(slots.size());
      shifts.push_back(slots[at] * facts.slot_bytes);
      slots.erase(slots.begin() + static_cast<std::ptrdiff_t>(at));
    }
    // Only MeasureFirstCall() makes more calls than there are slots, all on the same inputs.
    shifts.resize(static_cast<size_t>(kind.calls), shifts.back());
    current_shift_[static_cast<int>(timed->side)] = shifts.back();
    if (timed->side == Side::kCandidate) last_args_ = args.back().get<std::string>();
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

void Examination::BeginWindow(Timed* timed, const WindowKind& kind, const json& drawn) {
  timed->runner->BeginFrozen(ArmWindow(timed, kind, drawn.at("args")));
}

// One window of a process that is being armed. `pair`: where the call's times go; its publishing,
// too.
Result<CallResult> Examination::FinishWindow(Timed* timed, const WindowKind& kind,
                                             const json& drawn, Pair* pair) {
  const Answer armed = [&] {
    const Spent spent(&spent_["arm"]);
    return timed->runner->FinishFrozen(CallTimeout());
  }();
  CallResult call;
  call.failure = armed.failure;
  if (call.failure) return call;
  const int side = static_cast<int>(timed->side);
  std::vector<json> requests;
  if (!kind.empty)
    requests.push_back({{"op", "publish_several"},
                        {"name", timed->name},
                        {"shifts", window_shifts_[side]},
                        {"cool", !kind.flush}});
  requests.push_back({{"op", "hold"}});
  const auto published = [&] {
    const Spent spent(&spent_["publish"]);
    return session_->oracle->AskAll(requests);
  }();
  DAVINCI_RETURN_IF_ERROR(published.status());
  DAVINCI_RETURN_IF_ERROR(published->failure);
  if (!kind.empty) pair->publish_ns[side] = Nanoseconds(published->ok[0]);
  const uint64_t seed = session_->facts[0].value().reseed_calls
                            ? drawn.at("call_seed").get<uint64_t>()
                            : secret_.Next() >> 1;
  DAVINCI_ASSIGN_OR_RETURN(call, CallWindow(timed, kind, seed));
  call.seed = seed;
  call.arming = {std::min(armed.cpu_ns, armed.wall_ns), std::min(armed.cpu_ns, armed.stopped_ns),
                 armed.main_cpu_ns, std::max(armed.stopped_ns - armed.others_ns, int64_t{0})};
  return call;
}

// Do two calls of a window return the same memory, as a captured graph does?
bool Examination::ReturnsOneMemory(const CallResult& call, const VariantFacts& facts) const {
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
Result<bool> Examination::LookAtWindow(Timed* timed, const WindowKind& kind, CallResult* call,
                                       json* layouts) {
  const VariantFacts& facts = session_->facts[0].value();
  const Spent spent(&spent_["look"]);
  json all = json::array();
  json which = json::array();
  for (const Returned& returned : call->returned) {
    CallResult one;
    one.structure = returned.structure;
    one.outputs = returned.outputs;
    json layout;
    if (const auto failure = Locate(*timed, &one, 0, &layout)) return FailInPair(*timed, *failure);
    for (const size_t i : NotLent(returned.outputs, facts)) which.push_back(all.size() + i);
    for (const json& output : layout) all.push_back(output);
    layouts->push_back(std::move(layout));
  }
  json settle = {{"op", "settle"}, {"outputs", std::move(all)}};
  if (timed->side == Side::kCandidate && !candidate_shares_outputs_)
    settle["overwrite"] = {{"seed", secret_.Next() >> 1}, {"which", std::move(which)}};
  std::vector<json> requests = {std::move(settle)};
  if (kind.flush)
    requests.push_back({{"op", "filled"},
                        {"seed", call->seed},
                        {"count", kind.calls},
                        {"secret", secret_.Next() >> 1}});
  DAVINCI_ASSIGN_OR_RETURN(const auto answers, session_->oracle->AskAll(requests));
  if (answers.ok.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto failure, Unreadable(answers.failure));
    return FailInPair(*timed, failure.value());
  }
  DAVINCI_RETURN_IF_ERROR(answers.failure);
  call->settle_ns = Nanoseconds(answers.ok[0]);
  if (!kind.flush || answers.ok[1].at("filled").get<bool>()) return true;
  return FailInPair(
      *timed, Broken(Rule::kFlushLeftOut,
                     "the candidate's process did not write what is written between timed calls"));
}

Result<bool> Examination::VerifyWindow(const Pair& pair, const json (&layouts)[2],
                                       bool last_is_ours, bool full_check) {
  const Spent spent(&spent_["verify"]);
  const size_t chosen = secret_.Below(pair.candidate.returned.size());
  json calls = json::array();
  for (size_t i = 0; i < pair.candidate.returned.size(); ++i) {
    json request = VerifyRequest(layouts[static_cast<int>(Side::kCandidate)][i],
                                 layouts[static_cast<int>(Side::kBaseline)][i],
                                 full_check && i == chosen, last_is_ours);
    if (request.contains("intact"))
      request["intact"]["shift"] = window_shifts_[static_cast<int>(Side::kCandidate)][i];
    request["left"]["outputs"]["shift"] = window_shifts_[static_cast<int>(Side::kCandidate)][i];
    request["left"]["baseline"]["shift"] = window_shifts_[static_cast<int>(Side::kBaseline)][i];
    calls.push_back(std::move(request));
  }
  DAVINCI_ASSIGN_OR_RETURN(
      const auto verified,
      session_->oracle->Ask({{"op", "verify_several"}, {"calls", std::move(calls)}}));
  if (auto failure = CheckOutside(candidate_)) return Verdict(*failure);
  for (const json& found : verified.ok.at("calls")) {
    std::optional<Failure> broken;
    const json comparison = Verified(found, &broken);
    if (broken) return Verdict(*broken);
    if (comparison.at("passed").get<bool>()) continue;
    Failure failure = MismatchFailure(comparison, "task", 0);
    failure.message += " (a timed call: what is timed is what is checked)";
    return Verdict(std::move(failure));
  }
  right_since_reweigh_ = true;
  if (auto failure = SharedOutput()) return Verdict(*failure);
  return true;
}

Result<bool> Examination::MeasureWindows(const WindowKind& kind, bool baseline_first,
                                         bool full_check, std::vector<Pair>* into) {
  json seeds = json::array();
  for (int i = 0; i < kind.calls; ++i) seeds.push_back(NextSeed());
  drawn_.reset();  // the oracle forgets them
  ++window_pairs_;
  const auto asked = [&] {
    const Spent spent(&spent_["draw"]);
    return session_->oracle->Ask({{"op", "draw"}, {"seeds", seeds}});
  }();
  DAVINCI_RETURN_IF_ERROR(asked.status());
  const json& drawn = asked->ok;
  Timed* const order[2] = {baseline_first ? &session_->baseline : &candidate_,
                           baseline_first ? &candidate_ : &session_->baseline};
  WindowKind empty = kind;
  empty.empty = true;
  const bool with_empty = into != &pairs_ || pairs_.size() % kPairsPerEmpty == 0;
  struct Window {
    Timed* timed;
    const WindowKind* kind;
  };
  std::vector<Window> windows;
  for (Timed* timed : order) {
    const bool empty_first = with_empty && secret_.Below(2) == 0;
    if (empty_first) windows.push_back({timed, &empty});
    windows.push_back({timed, &kind});
    if (with_empty && !empty_first) windows.push_back({timed, &empty});
  }
  Pair pair;
  json layouts[2] = {json::array(), json::array()};
  const Window* armed = nullptr;
  for (size_t i = 0; i < windows.size(); ++i) {
    const Window& now = windows[i];
    if (armed != &now) BeginWindow(now.timed, *now.kind, drawn);
    DAVINCI_ASSIGN_OR_RETURN(CallResult ran, FinishWindow(now.timed, *now.kind, drawn, &pair));
    if (ran.failure) return FailInPair(*now.timed, *ran.failure);
    CallResult& call = now.timed->side == Side::kBaseline ? pair.baseline : pair.candidate;
    if (now.kind->empty) {
      call.empty_ns = ran.window_ns;
      continue;
    }
    ran.empty_ns = call.empty_ns;
    call = std::move(ran);
    if (kind.calls > 1 && ReturnsOneMemory(call, *session_->facts[0]) && into == nullptr) {
      one_memory_ = true;
      return true;
    }
    // The baseline is armed meanwhile, unless it restores buffers: the oracle would count that work
    // on the device as the candidate's. Never the candidate: what its finalisers start on the
    // device shows in the oracle's first work after arming (CheckIdleDevice).
    const bool is_next = i + 1 < windows.size() && windows[i + 1].timed != now.timed &&
                         now.timed == &candidate_ && !KeepsState();
    armed = is_next ? &windows[i + 1] : nullptr;
    if (armed != nullptr) BeginWindow(armed->timed, *armed->kind, drawn);
    const auto go_on =
        LookAtWindow(now.timed, kind, &call, &layouts[static_cast<int>(now.timed->side)]);
    if (armed != nullptr && (!go_on.ok() || !*go_on))
      (void)armed->timed->runner->FinishFrozen(CallTimeout());
    DAVINCI_RETURN_IF_ERROR(go_on.status());
    if (!*go_on) return false;
  }
  DAVINCI_ASSIGN_OR_RETURN(const bool right,
                           VerifyWindow(pair, layouts, order[1] == &candidate_, full_check));
  if (!right) return false;
  if (into != nullptr) into->push_back(std::move(pair));
  return true;
}

// Windows that are of no record: memory is asked for, outputs are described.
Result<bool> Examination::WarmWindows() {
  PlanWindows();
  DAVINCI_ASSIGN_OR_RETURN(const auto calibrated, session_->oracle->Ask({{"op", "calibrate"}}));
  session_->between_events_seconds = calibrated.ok.at("between_events_seconds").get<double>();
  DAVINCI_ASSIGN_OR_RETURN(bool go_on, MeasureWindows(full_queue_, true, false, nullptr));
  if (go_on && one_memory_ && full_queue_.calls > 1) {
    full_queue_.calls = from_idle_.calls = 1;
    DAVINCI_ASSIGN_OR_RETURN(go_on, MeasureWindows(full_queue_, false, false, nullptr));
  }
  return go_on;
}

// A process that was stopped finds its code and data out of the caches, so the first call from an
// idle queue takes some 0.1 ms longer than the next: nothing that a running program pays. What is
// taken off for it is measured on the baseline, beside each pair: windows of one call where a pair
// has several, and of two where it has one.
Status Examination::MeasureFirstCall() {
  const bool is_asked = protocol_.latency_every == 1 || from_idle_.calls == 1;
  if (!is_asked || session_->buffers.at("count").get<int>() < 2) return Status::Ok();
  WindowKind kind = from_idle_;
  kind.calls = from_idle_.calls > 1 ? 1 : 2;
  DAVINCI_ASSIGN_OR_RETURN(
      const auto drawn,
      session_->oracle->Ask(
          {{"op", "draw"},
           {"seeds", std::vector<uint64_t>(static_cast<size_t>(kind.calls), NextSeed())}}));
  drawn_.reset();  // the oracle forgets them
  WindowKind empty = kind;
  empty.empty = true;
  Pair pair;
  stats::WindowReading reading;
  for (const WindowKind* one : {&empty, &kind}) {
    BeginWindow(&session_->baseline, *one, drawn.ok);
    DAVINCI_ASSIGN_OR_RETURN(const CallResult ran,
                             FinishWindow(&session_->baseline, *one, drawn.ok, &pair));
    if (ran.failure) return ReferenceFailure(*ran.failure);
    const double seconds = 1e-9 * static_cast<double>(ran.window_ns);
    if (one->empty)
      reading.empty_seconds = seconds;
    else
      reading.with_calls_seconds = seconds;
  }
  first_call_windows_.push_back(reading);
  return Status::Ok();
}

Result<bool> Examination::Corroborate(bool baseline_first) {
  const size_t each = baseline_seconds_ < kShortSeconds ? kAloneOfShort : 1;
  const bool alone_is_due =
      alone_pairs_.size() <= each * (pairs_.size() / static_cast<size_t>(protocol_.alone_every));
  bool go_on = true;
  for (size_t i = 0; go_on && alone_is_due && i < each; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(go_on, MeasureWindows(alone_, baseline_first, false, &alone_pairs_));
  }
  const int every = full_queue_.calls == 1 ? std::min(protocol_.latency_every, kLatencyOfOneCall)
                                           : protocol_.latency_every;
  if (!go_on || latency_pairs_.size() > pairs_.size() / static_cast<size_t>(every)) return go_on;
  DAVINCI_RETURN_IF_ERROR(MeasureFirstCall());
  return MeasureWindows(from_idle_, baseline_first, false, &latency_pairs_);
}

Result<bool> Examination::ConfirmCharge() {
  const Stopwatch watch;
  while (alone_pairs_.size() < kAloneToDecide && watch.Seconds() < kConfirmSeconds) {
    bool go_on = true;
    const bool baseline_first = alone_pairs_.size() % 2 == 0;
    for (size_t i = 0; go_on && i < kAloneOfShort; ++i) {
      DAVINCI_ASSIGN_OR_RETURN(go_on, MeasureWindows(alone_, baseline_first, false, &alone_pairs_));
    }
    if (go_on) {
      DAVINCI_ASSIGN_OR_RETURN(go_on,
                               MeasureWindows(from_idle_, baseline_first, false, &latency_pairs_));
    }
    if (!go_on) return false;
  }
  ChargeWindows();
  return true;
}

}  // namespace davinci::judge
