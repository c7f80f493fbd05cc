// A timed pair: one call of each side on the same inputs never used before, every output verified.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/trial/timed_pairs.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// The reference's failure is the task's fault, the candidate's is the verdict.
Result<bool> FailInPair(Trial& trial, const Timed& timed, const Failure& failure);
// The time that arming took, from its answer.
Arming ArmingOf(const Answer& armed);
// Asks the oracle what comes after a call of `timed`, of which the first is to settle its outputs;
// that time is `call`'s. False: no memory lies behind the outputs, and the verdict stands.
Result<bool> AskAfterCall(Trial& trial, const Timed& timed,
                          const std::vector<to_oracle::Request>& requests, CallResult* call,
                          std::vector<nlohmann::json>* answers);
// The verdict on a timed call, by what the oracle `found` of it.
Result<bool> AcceptTimedCall(Trial& trial, const from_oracle::Verified& found,
                             const std::string& distribution);
// After all calls of a pair have been accepted.
Result<bool> AcceptPair(Trial& trial);
// One pair on inputs of `distribution`; `into`: where its times go, if anywhere.
Result<bool> MeasurePair(Trial& trial, bool baseline_first, const std::string& distribution,
                         bool full_check, std::vector<TimedPair>* into);

}  // namespace davinci::judge
