// Other weights, written while a trial runs.
#pragma once

#include <cstdint>
#include <optional>

#include "davinci/base/status.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// Writes other weights into the reference, the baseline and the candidate, in place, as a step of
// an optimiser does: what a candidate derived from the old ones is wrong from here on. Does
// nothing where there are no weights, or where they are not the judge's to draw.
Result<std::optional<Failure>> Reweigh(Trial& trial, std::optional<uint64_t> seed = std::nullopt);

}  // namespace davinci::judge
