// A timed pair: one call of each side on the same inputs never used before, every output verified.
#pragma once

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
// One pair on inputs of `distribution`; `into`: where its times go, if anywhere.
Result<bool> MeasurePair(Trial& trial, bool baseline_first, const std::string& distribution,
                         bool full_check, std::vector<TimedPair>* into);

}  // namespace davinci::judge
