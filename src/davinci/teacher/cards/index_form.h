// Definitions of invented operators that move elements: shifts, turns, lags, neighbours, other
// axes. What they compute is an index, which no operator of composite.toml has. Their numbers may
// be arguments under the names that PyTorch's operators have: "kernel_size", "padding".
#pragma once

#include <string>
#include <vector>

#include "davinci/base/rng.h"
#include "davinci/synth/grammar.h"

namespace davinci::teacher {

struct IndexForm {
  std::string input, output;  // shapes of `x` and of the result, as operators of synth/ have them
  std::string definition;     // of {x}: "{x}[..., 2:] - {x}[..., :-2]"
  std::string means = {};     // for people, where the definition is no Python: "o[n, c] = x[c, n]"
  std::vector<synth::AttrSpec> attrs;  // numbers of the definition and of `output`
  // Least and largest result, over m, the largest magnitude of `x`.
  std::string lo, hi;
};

IndexForm DrawIndexForm(SplitMix64* rng);

}  // namespace davinci::teacher
