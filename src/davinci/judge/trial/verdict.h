// Verdicts on the candidate, and failures that are not its own.
#pragma once

#include <optional>

#include "davinci/base/status.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// Keeps the failure as the verdict: false. A failure of ours is a Status.
Result<bool> Verdict(Trial& trial, Failure failure);
// The reference failed: the task's fault, unless the device's memory ran out.
Status ReferenceFailure(const Job& job, const Failure& failure);
// A time that the candidate's process says of itself; nothing, and a label for `member`, where it
// is not within 0 and `most`.
std::optional<double> Plausible(Report* report, double said, double most, const char* member);

}  // namespace davinci::judge
