// Correctness: fresh secret inputs, one call, comparison by the oracle.
#pragma once

#include <optional>

#include "davinci/base/status.h"
#include "davinci/judge/failure.h"
#include "davinci/judge/protocol.h"
#include "davinci/judge/trial.h"

namespace davinci::judge {

Result<std::optional<Failure>> CheckOne(Trial& trial, const CheckStep& step, int variant);
Result<bool> CheckCorrectness(Trial& trial);

}  // namespace davinci::judge
