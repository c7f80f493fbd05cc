// What a check without a device cannot decide, and why.
#pragma once

#include <nlohmann/json.hpp>

#include "davinci/base/status.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// Reasons in CompileOnlyEvidence::Blocked.
inline constexpr char kTooSlow[] = "too slow to interpret";
inline constexpr char kNoReference[] = "the reference does not run here";

bool IsWrongAnswer(Outcome outcome);
// What the candidate's process says of itself: {"kernels", "builds", "blocked",
// "device_redirected"}; when it is gone, the last one that `state` keeps.
nlohmann::json CompileOnlyReport(const Candidate& candidate, CompileOnlyState* state);
// True when the failure only means that the check cannot go further here; notes why.
bool StoppedForWantOfDevice(Trial& trial, const Failure& failure, int variant);
// True when the oracle went no further because the task is too large here (it may have been killed
// for that), or does not take the sizes that we have set; notes why.
bool StoppedBySize(Session* session, CompileOnlyState* state, const Status& status);
// The step, or false where it was stopped by size: the candidate is compiled and imported all the
// same.
Result<bool> UnlessTooLarge(Trial& trial, Result<bool> step);

}  // namespace davinci::judge
