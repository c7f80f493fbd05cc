// Definitions of invented operators that move elements: shifts, turns, lags, neighbours. What they
// compute is an index, which no operator of composite.toml has.
#pragma once

#include <string>

#include "davinci/base/rng.h"

namespace davinci::teacher {

struct IndexForm {
  std::string input, output;  // shapes of `x` and of the result, as operators of synth/ have them
  std::string definition;     // of {x}: "{x}[..., 2:] - {x}[..., :-2]"
  // Least and largest result, over m, the largest magnitude of `x`.
  std::string lo, hi;
};

IndexForm DrawIndexForm(SplitMix64* rng);

}  // namespace davinci::teacher
