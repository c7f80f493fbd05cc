// An operator graph as the Python file that a person would write for it: class Model, get_inputs,
// get_init_inputs, and the TOML text of its sidecar. Pure: the same graph, style and seed give the
// same text.
#pragma once

#include <string>
#include <vector>

#include "davinci/synth/graph.h"
#include "davinci/synth/style.h"

namespace davinci::synth {

struct RenderedTask {
  std::string source;
  std::string sidecar;
  std::string title;
  std::string entry = "Model";
  // Sizes stand in the text as numbers: they cannot be set per target.
  bool fixed_sizes = false;
};

RenderedTask RenderTask(const Graph& graph, const Grammar& grammar, const StyleBook& book,
                        const Style& style, uint64_t seed);

}  // namespace davinci::synth
