// What arming the candidate takes beyond arming the baseline.
//
// Arming lets the last outputs go and makes the arguments; inputs do not exist yet. What a
// candidate does there beyond what the baseline needs, it does off the clock: that is charged on
// cpu, and refused on cuda.
#pragma once

#include <optional>

#include "davinci/judge/roles/failure.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// cpu: sets the charge for arming, and the doubt about it.
void ChargeArming(Trial& trial);

// `call_seconds`: of a median call of the candidate.
std::optional<Failure> CheckArming(Trial& trial, double call_seconds);

}  // namespace davinci::judge
