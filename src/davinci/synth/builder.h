// From a pattern of the grammar to an operator graph: draws what the pattern leaves open (operators
// of a group, attributes, sizes, further inputs) and checks shapes, element types, value ranges and
// budgets. Pure: the same grammar, pattern and seed give the same graph.
#pragma once

#include "davinci/synth/build_options.h"

namespace davinci::synth {

BuildOutcome BuildGraph(const Grammar& grammar, const Pattern& pattern,
                        const BuildOptions& options);

}  // namespace davinci::synth
