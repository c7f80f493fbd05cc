// An operator graph as the Python file that a person would write for it: class Model, get_inputs,
// get_init_inputs, and the TOML text of its sidecar. Pure: the same graph, style and seed give the
// same text.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "davinci/synth/graph.h"
#include "davinci/synth/style.h"

namespace davinci::synth {

// How one node was written: enough to write it again elsewhere, with the same weights.
struct NodeText {
  std::string form;                            // a spelling of the operator; of a module, its call
  std::string constructor;                     // of a module, a spelling of the operator
  std::string module;                          // below self: "blocks[0].conv"
  std::map<std::string, std::string> weights;  // parameter of the operator -> below self
};

// What another class needs in order to take the place of the task's: the same constructor, inputs
// and kind of result.
struct ClassParts {
  std::vector<NodeText> nodes;  // as in the graph
  std::string helpers;          // classes that the constructor uses
  std::string constructor;      // "class {entry}New(nn.Module):" with __init__, without forward
  std::array<std::string, kNumBindings> constants;  // that those texts name
  bool names_sizes = false;                         // sizes are among these constants
  std::vector<std::string> inputs;                  // of forward
  std::string result = "tuple";                     // or "list", "dict" where there are several
  std::vector<std::string> result_keys;
};

struct RenderedTask {
  std::string source;
  std::string sidecar;
  std::string title;
  std::string entry = "Model";
  // Sizes stand in the text as numbers: they cannot be set per target.
  bool fixed_sizes = false;
  ClassParts parts;
};

RenderedTask RenderTask(const Graph& graph, const Grammar& grammar, const StyleBook& book,
                        const Style& style, uint64_t seed);

}  // namespace davinci::synth
