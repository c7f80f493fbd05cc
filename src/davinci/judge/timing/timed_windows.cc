#include "davinci/judge/timing/timed_windows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "davinci/judge/timing/one_window.h"
#include "davinci/judge/timing/timed_calls.h"
#include "davinci/judge/timing/window_plan.h"
#include "davinci/judge/timing/window_times.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

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

// Says whether a pair comes with empty windows of both processes.
bool ComesWithEmpty(const Trial& trial, const std::vector<TimedPair>* into) {
  if (into == nullptr) return true;
  const int every = trial.protocol.pairs_per_empty;
  const int of_kind = into == &trial.pairs.record ? every : std::max(1, every / 2);
  return into->size() % static_cast<size_t>(of_kind) == 0;
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
      const auto reply,
      trial.session->oracle->Ask(to_oracle::Draw{std::vector<uint64_t>(
          static_cast<size_t>(kind.calls), NextSeed(&trial.windows, &trial.secret))}));
  const auto drawn = reply.ok.get<from_oracle::Drawn>();
  trial.inputs.ahead.reset();  // the oracle forgets them
  WindowKind empty = kind;
  empty.empty = true;
  TimedPair pair;
  stats::WindowReading reading;
  for (const WindowKind* one : {&empty, &kind}) {
    BeginWindow(trial, &trial.session->baseline, *one, drawn);
    DAVINCI_ASSIGN_OR_RETURN(const CallResult ran,
                             FinishWindow(trial, &trial.session->baseline, *one, drawn, &pair));
    if (ran.failure) return ReferenceFailure(trial.job, *ran.failure);
    const double seconds = 1e-9 * static_cast<double>(ran.window_ns);
    if (one->empty)
      reading.empty_seconds = seconds;
    else
      reading.with_calls_seconds = seconds;
  }
  trial.pairs.first_call.push_back(reading);
  return Status::Ok();
}

}  // namespace

Result<bool> MeasureWindows(Trial& trial, const WindowKind& kind, bool baseline_first,
                            bool full_check, std::vector<TimedPair>* into) {
  std::vector<uint64_t> seeds;
  for (int i = 0; i < kind.calls; ++i) seeds.push_back(NextSeed(&trial.windows, &trial.secret));
  trial.inputs.ahead.reset();  // the oracle forgets them
  ++trial.windows.num_pairs;
  const auto asked = [&] {
    const Spent spent(&trial.timing.by_purpose["draw"]);
    return trial.session->oracle->Ask(to_oracle::Draw{seeds});
  }();
  DAVINCI_RETURN_IF_ERROR(asked.status());
  const auto drawn = asked->ok.get<from_oracle::Drawn>();
  Timed* const order[2] = {baseline_first ? &trial.session->baseline : &trial.candidate.timed,
                           baseline_first ? &trial.candidate.timed : &trial.session->baseline};
  WindowKind empty = kind;
  empty.empty = true;
  const bool with_empty = ComesWithEmpty(trial, into);
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
                           trial.session->oracle->Ask(to_oracle::Calibrate{}));
  trial.windows.between_events_seconds =
      calibrated.ok.get<from_oracle::Calibrated>().between_events_seconds;
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
  // Under `staged` they are made once, as many as a charge needs.
  const size_t each =
      trial.protocol.staged || trial.timing.baseline_seconds < kShortSeconds ? kAloneOfShort : 1;
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
