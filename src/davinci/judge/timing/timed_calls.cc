#include "davinci/judge/timing/timed_calls.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "davinci/judge/check/calls.h"
#include "davinci/judge/check/returned_outputs.h"
#include "davinci/judge/check/verify.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// A pair while it is measured.
struct PairUnderWay {
  Timed* order[2] = {};
  bool full_check = false;
  Arming arming[2];  // by turn
  TimedPair calls;
  json layouts[2];                 // by Side
  from_oracle::Verified verified;  // what the oracle says after the second call

  CallResult& call(int turn) {
    return order[turn]->side == Side::kBaseline ? calls.baseline : calls.candidate;
  }
  json& layout(int turn) { return layouts[static_cast<int>(order[turn]->side)]; }
};

// Inputs drawn for this call only, as arguments of a call.
Result<std::string> DrawInputs(Trial& trial, const std::string& distribution) {
  if (trial.inputs.ahead) {
    trial.inputs.call_seed = trial.inputs.ahead->call_seed;
    return std::exchange(trial.inputs.ahead, std::nullopt).value().args;
  }
  const Spent spent(&trial.timing.by_purpose["draw"]);
  // Truth is worked out after the calls: what comes before a call never says how it is looked at.
  DAVINCI_ASSIGN_OR_RETURN(auto drawn, PrepareInputs(trial, {.seed = trial.secret.Next() >> 1,
                                                             .distribution = distribution}));
  return std::move(drawn.args);
}

Result<bool> ArmBoth(Trial& trial, PairUnderWay* pair, const std::string& args) {
  // On cuda both at once. On cpu one after the other: their threads look for more work for some
  // milliseconds, and would keep the other one from its core.
  const bool at_once = trial.job.target == Target::kCuda;
  const Spent spent(&trial.timing.by_purpose["arm"]);
  Answer answers[2];
  for (int turn : {0, 1}) {
    Timed* timed = pair->order[turn];
    timed->runner->BeginFrozen(
        ArmMessage(&trial.inputs, &trial.secret, *timed, trial.session->facts[0].value(), args));
    if (!at_once) answers[turn] = timed->runner->FinishFrozen(CallTimeout(trial));
  }
  for (int turn : {0, 1}) {
    if (at_once) answers[turn] = pair->order[turn]->runner->FinishFrozen(CallTimeout(trial));
    if (answers[turn].failure)
      return FailInPair(trial, *pair->order[turn], answers[turn].failure.value());
    pair->arming[turn] = ArmingOf(answers[turn]);
  }
  return true;
}

to_oracle::Verify VerifyPairRequest(const Trial& trial, const PairUnderWay& pair) {
  // The oracle's samples are of the last runner.
  return VerifyRequest(trial, pair.layouts[static_cast<int>(Side::kCandidate)],
                       pair.layouts[static_cast<int>(Side::kBaseline)], pair.full_check,
                       pair.order[1] == &trial.candidate.timed);
}

// What happens between the calls of a pair and after the second, on cpu and on cuda.
Result<bool> LookOnHost(Trial& trial, PairUnderWay* pair, int turn) {
  Oracle& oracle = *trial.session->oracle;
  const bool last = turn == 1;
  const Spent spent(&trial.timing.by_purpose[last ? "verify" : "look"]);
  // The supervisor copies outputs while the oracle copies inputs.
  if (!last)
    DAVINCI_RETURN_IF_ERROR(oracle.Post(
        PublishRequest(trial.inputs, *pair->order[1], trial.session->facts[0].value())));
  const auto failure =
      LocateOutputs(trial, *pair->order[turn], &pair->call(turn), 0, &pair->layout(turn));
  if (!last) DAVINCI_RETURN_IF_ERROR(oracle.Await(to_oracle::Publish::kOp).status());
  if (failure) return FailInPair(trial, *pair->order[turn], *failure);
  if (!last) return true;
  DAVINCI_ASSIGN_OR_RETURN(auto verified, oracle.Ask(VerifyPairRequest(trial, *pair)));
  pair->verified = verified.ok.get<from_oracle::Verified>();
  return true;
}

Result<bool> LookOnDevice(Trial& trial, PairUnderWay* pair, int turn) {
  const Timed& timed = *pair->order[turn];
  CallResult& call = pair->call(turn);
  json& layout = pair->layout(turn);
  if (const auto failure = LocateOutputs(trial, timed, &call, 0, &layout))
    return FailInPair(trial, timed, *failure);
  // One message: the first look at what has just been returned, and either the inputs for the other
  // or the comparison, with which the next pair's inputs are drawn.
  std::vector<to_oracle::Request> requests = {
      SettleRequest(trial.candidate, &trial.secret, timed, layout,
                    NotLent(call.outputs, trial.session->facts[0].value()))};
  if (turn == 0) {
    requests.push_back(
        PublishRequest(trial.inputs, *pair->order[1], trial.session->facts[0].value()));
  } else {
    requests.push_back(VerifyPairRequest(trial, *pair));
    requests.push_back(to_oracle::Prepare{.seed = trial.secret.Next() >> 1,
                                          .distribution = trial.inputs.next_distribution});
  }
  std::vector<json> answers;
  DAVINCI_ASSIGN_OR_RETURN(const bool go_on, AskAfterCall(trial, timed, requests, &call, &answers));
  if (!go_on) return false;
  if (turn == 0) {
    pair->calls.publish_ns[1] = Nanoseconds(answers[1]);
    return true;
  }
  pair->verified = answers[1].get<from_oracle::Verified>();
  trial.inputs.ahead = answers[2].get<from_oracle::Prepared>();
  return true;
}

}  // namespace

Result<bool> FailInPair(Trial& trial, const Timed& timed, const Failure& failure) {
  if (timed.side == Side::kBaseline) return ReferenceFailure(trial.job, failure);
  return Verdict(trial, failure);
}

Arming ArmingOf(const Answer& armed) {
  // Threads of a pool spin while they wait for work. Their CPU time counts up to the time that
  // the step took, and no further.
  return {std::min(armed.cpu_ns, armed.wall_ns), std::min(armed.cpu_ns, armed.stopped_ns),
          armed.main_cpu_ns, std::max(armed.stopped_ns - armed.others_ns, int64_t{0})};
}

Result<bool> AskAfterCall(Trial& trial, const Timed& timed,
                          const std::vector<to_oracle::Request>& requests, CallResult* call,
                          std::vector<json>* answers) {
  DAVINCI_ASSIGN_OR_RETURN(auto answered, trial.session->oracle->AskAll(requests));
  if (answered.ok.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto failure,
                             UnreadableOutput(*trial.session, answered.failure));
    return FailInPair(trial, timed, failure.value());
  }
  DAVINCI_RETURN_IF_ERROR(answered.failure);
  *answers = std::move(answered.ok);
  call->settle_ns = Nanoseconds((*answers)[0]);
  return true;
}

Result<bool> AcceptTimedCall(Trial& trial, const from_oracle::Verified& found,
                             const std::string& distribution) {
  if (auto broken = WhatBroke(found)) return Verdict(trial, *std::move(broken));
  const json& comparison = found.comparison;
  if (comparison.at("passed").get<bool>()) return true;
  Failure failure = MismatchFailure(trial, comparison, distribution, 0);
  failure.message += distribution == "task" ? " (a timed call: what is timed is what is checked)"
                                            : " (a call among the timed ones)";
  return Verdict(trial, std::move(failure));
}

Result<bool> AcceptPair(Trial& trial) {
  trial.weights.right_since = true;
  if (auto failure = SharedOutput(trial.candidate)) return Verdict(trial, *failure);
  return true;
}

Result<bool> MeasurePair(Trial& trial, bool baseline_first, const std::string& distribution,
                         bool full_check, std::vector<TimedPair>* into) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string args, DrawInputs(trial, distribution));
  PairUnderWay pair;
  pair.order[baseline_first ? 0 : 1] = &trial.session->baseline;
  pair.order[baseline_first ? 1 : 0] = &trial.candidate.timed;
  pair.full_check = full_check;
  DAVINCI_ASSIGN_OR_RETURN(const bool armed, ArmBoth(trial, &pair, args));
  if (!armed) return false;
  const auto published = [&] {
    const Spent spent(&trial.timing.by_purpose["publish"]);
    return trial.session->oracle->Ask(
        PublishRequest(trial.inputs, *pair.order[0], *trial.session->facts[0]));
  }();
  DAVINCI_RETURN_IF_ERROR(published.status());
  pair.calls.publish_ns[0] = Nanoseconds(published->ok);
  for (int turn : {0, 1}) {
    CallResult& call = pair.call(turn);
    DAVINCI_ASSIGN_OR_RETURN(call, [&] {
      const Spent spent(&trial.timing.by_purpose["call"]);
      return CallPublished(trial, pair.order[turn], false);
    }());
    call.arming = pair.arming[turn];
    if (call.failure) return FailInPair(trial, *pair.order[turn], *call.failure);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, trial.job.target == Target::kCuda
                                                   ? LookOnDevice(trial, &pair, turn)
                                                   : LookOnHost(trial, &pair, turn));
    if (!go_on) return false;
  }
  if (auto failure = CheckOutside(trial, trial.candidate.timed)) return Verdict(trial, *failure);
  DAVINCI_ASSIGN_OR_RETURN(const bool right, AcceptTimedCall(trial, pair.verified, distribution));
  if (!right) return false;
  DAVINCI_ASSIGN_OR_RETURN(const bool accepted, AcceptPair(trial));
  if (!accepted) return false;
  pair.calls.launch = static_cast<int>(trial.launches.current);
  if (into != nullptr) into->push_back(std::move(pair.calls));
  return true;
}

}  // namespace davinci::judge
