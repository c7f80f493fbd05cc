#include "davinci/judge/timing/one_window.h"

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
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

Result<CallResult> CallWindow(Trial& trial, Timed* timed, const WindowKind& kind, uint64_t seed) {
  CallOptions options;
  options.timeout_seconds = CallTimeout(trial);
  options.spin_seconds = kSpinSeconds;
  options.seed = seed;
  options.num_calls = static_cast<size_t>(kind.calls);
  options.is_empty = kind.empty;
  Status posted;
  options.on_thawed = [&] {
    posted = trial.session->oracle->Post(to_oracle::Release{kind.hold_seconds});
  };
  const Spent spent(&trial.timing.by_purpose["call"]);
  CallResult call = timed->runner->Call(options);
  DAVINCI_RETURN_IF_ERROR(posted);
  if (call.start_ns == 0) return call;  // it was never let go
  DAVINCI_ASSIGN_OR_RETURN(const auto released,
                           trial.session->oracle->Await(to_oracle::Release::kOp));
  timed->outside_cpu_ns.push_back(call.outside_cpu_ns);
  call.held_ns = released.ok.get<from_oracle::Released>().at_ns - call.start_ns;
  call.window_ns = std::max<int64_t>(1, call.wall_ns - call.held_ns);
  return call;
}

to_runner::ArmWindow ArmWindow(Trial& trial, Timed* timed, const WindowKind& kind,
                               const std::vector<std::string>& args) {
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
    if (timed->side == Side::kCandidate) trial.inputs.last_args = args.back();
  }
  to_runner::ArmWindow window = {.calls = kind.calls,
                                 .flush = kind.flush,
                                 .idle = kind.idle,
                                 .seeded = facts.reseed_calls,
                                 .empty = kind.empty};
  if (!kind.empty) {
    window.shifts = shifts;
    window.args = args;
  }
  return window;
}

}  // namespace

void BeginWindow(Trial& trial, Timed* timed, const WindowKind& kind,
                 const from_oracle::Drawn& drawn) {
  timed->runner->BeginFrozen(ArmWindow(trial, timed, kind, drawn.args));
}

Result<CallResult> FinishWindow(Trial& trial, Timed* timed, const WindowKind& kind,
                                const from_oracle::Drawn& drawn, TimedPair* pair) {
  const Answer armed = [&] {
    const Spent spent(&trial.timing.by_purpose["arm"]);
    return timed->runner->FinishFrozen(CallTimeout(trial));
  }();
  CallResult call;
  call.failure = armed.failure;
  if (call.failure) return call;
  const int side = static_cast<int>(timed->side);
  std::vector<to_oracle::Request> requests;
  if (!kind.empty)
    requests.emplace_back(
        to_oracle::PublishSeveral{timed->name, trial.windows.shifts[side], !kind.flush});
  requests.emplace_back(to_oracle::Hold{});
  const auto published = [&] {
    const Spent spent(&trial.timing.by_purpose["publish"]);
    return trial.session->oracle->AskAll(requests);
  }();
  DAVINCI_RETURN_IF_ERROR(published.status());
  DAVINCI_RETURN_IF_ERROR(published->failure);
  if (!kind.empty) pair->publish_ns[side] = Nanoseconds(published->ok[0]);
  const uint64_t seed =
      trial.session->facts[0].value().reseed_calls ? drawn.call_seed : trial.secret.Next() >> 1;
  DAVINCI_ASSIGN_OR_RETURN(call, CallWindow(trial, timed, kind, seed));
  call.seed = seed;
  call.arming = ArmingOf(armed);
  return call;
}

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

Result<bool> LookAtWindow(Trial& trial, Timed* timed, const WindowKind& kind, CallResult* call,
                          json* layouts) {
  const VariantFacts& facts = trial.session->facts[0].value();
  const Spent spent(&trial.timing.by_purpose["look"]);
  json all = json::array();
  std::vector<size_t> which;
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
  std::vector<to_oracle::Request> requests = {
      SettleRequest(trial.candidate, &trial.secret, *timed, all, which)};
  if (kind.flush)
    requests.emplace_back(to_oracle::Filled{call->seed, kind.calls, trial.secret.Next() >> 1});
  std::vector<json> answers;
  DAVINCI_ASSIGN_OR_RETURN(const bool go_on, AskAfterCall(trial, *timed, requests, call, &answers));
  if (!go_on) return false;
  if (!kind.flush || answers[1].get<from_oracle::IsFilled>().filled) return true;
  return FailInPair(
      trial, *timed,
      Broken(Rule::kFlushLeftOut,
             "the candidate's process did not write what is written between timed calls"));
}

Result<bool> VerifyWindow(Trial& trial, const TimedPair& pair, const json (&layouts)[2],
                          bool last_is_ours, bool full_check) {
  const Spent spent(&trial.timing.by_purpose["verify"]);
  const size_t chosen = trial.secret.Below(pair.candidate.returned.size());
  to_oracle::VerifySeveral asked;
  for (size_t i = 0; i < pair.candidate.returned.size(); ++i) {
    to_oracle::Verify request = VerifyRequest(trial, layouts[static_cast<int>(Side::kCandidate)][i],
                                              layouts[static_cast<int>(Side::kBaseline)][i],
                                              full_check && i == chosen, last_is_ours);
    const int64_t shift = trial.windows.shifts[static_cast<int>(Side::kCandidate)][i];
    if (request.intact) request.intact->shift = shift;
    request.left.outputs.shift = shift;
    request.left.baseline.value().shift =
        trial.windows.shifts[static_cast<int>(Side::kBaseline)][i];
    asked.calls.push_back(std::move(request));
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto verified, trial.session->oracle->Ask(std::move(asked)));
  if (auto failure = CheckOutside(trial, trial.candidate.timed)) return Verdict(trial, *failure);
  const auto several = verified.ok.get<from_oracle::VerifiedSeveral>();
  for (const from_oracle::Verified& found : several.calls) {
    DAVINCI_ASSIGN_OR_RETURN(const bool right, AcceptTimedCall(trial, found, "task"));
    if (!right) return false;
  }
  return AcceptPair(trial);
}

}  // namespace davinci::judge
