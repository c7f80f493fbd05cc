// An operator graph as the Python file that a person would write for it: class Model, get_inputs,
// get_init_inputs, and the TOML text of its sidecar. Pure: the same graph, style and seed give the
// same text.
#pragma once

#include <cstdint>

#include "davinci/synth/rendered_task.h"
#include "davinci/synth/style.h"

namespace davinci::synth {

RenderedTask RenderTask(const Graph& graph, const Grammar& grammar, const StyleBook& book,
                        const Style& style, uint64_t seed);

}  // namespace davinci::synth
