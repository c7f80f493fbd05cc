// Whether clocks and device tell one story of the timed calls.
#pragma once

#include <optional>

#include "davinci/judge/roles/failure.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// A violation where they do not; the readings go into the evidence.
std::optional<Failure> CheckClocks(Trial& trial);

}  // namespace davinci::judge
