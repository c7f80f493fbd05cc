// Correctness: fresh secret inputs, one call, comparison by the oracle.
#pragma once

#include <optional>

#include "davinci/base/status.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// One check of a variant that is bound: nothing where the candidate was right.
Result<std::optional<Failure>> CheckOne(Trial& trial, const CheckStep& step, int variant);
// All checks of the protocol, on the task's own size and on its variants.
Result<bool> CheckCorrectness(Trial& trial);

}  // namespace davinci::judge
