// Divisions whose last bit decides something.
#pragma once

#include "davinci/teacher/program/program.h"

namespace davinci::teacher {

// Replaces the divisions that a truth value, a rounding or an index depends on by `exact`, which
// rounds as PyTorch does: Triton's own may be off by two units in the last place, so that x / x - 1
// is not always 0. A comparison decides where it is more than a choice between two values that are
// computed, as in a clamp. A division by a size stays: `exact` takes no integers, and PyTorch's own
// mean multiplies by the inverse.
void MakeDecidingDivisionsExact(const Primitive& exact, Program* program);

}  // namespace davinci::teacher
