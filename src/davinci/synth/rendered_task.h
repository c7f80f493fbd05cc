// RenderedTask is the Python file of an operator graph. Its parts say what another class needs in
// order to take the place of the task's.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/synth/graph.h"
#include "davinci/synth/text.h"

namespace davinci::synth {

// How one node was written: enough to write it again elsewhere, with the same weights.
struct NodeText {
  std::string form;                            // a spelling of the operator; of a module, its call
  std::string constructor;                     // of a module, a spelling of the operator
  std::string module;                          // below self: "blocks[0].conv"
  std::map<std::string, std::string> weights;  // parameter of the operator -> below self
  // Of an imported module: what stands behind the result's name for each output, and the line of
  // the user's file.
  std::vector<std::string> items = {};
  std::string place = {};
  // Of an imported module: the layer whose forward this one call is, with its own weights and
  // bias, "self.blocks[0].conv"; else "".
  std::string layer = {};
};

// A class or function that is made from a user's own file: all of the file stays, and what is new
// follows it.
struct ImportedParts {
  std::string future;                       // "from __future__ import …" lines
  std::string source;                       // the file without what draws inputs
  std::string helpers;                      // functions that the texts call
  std::set<std::string> bound;              // names that it binds
  std::string base;                         // the class that is extended; "": a function is defined
  std::string defined;                      // its name
  std::string signature;                    // of forward, without self
  std::vector<std::string> arguments = {};  // names of the signature
  std::string result;                       // Python text with {0}, … for the outputs
  // When the kernels are the answer, and what is it where they are not.
  std::string guard, fallback;
  std::string first_lines;  // of forward: names for tensors within its arguments
  // Python texts of sizes that are symbols, read when forward runs; empty: the text is of one
  // shape.
  std::vector<std::string> symbols = {};
  // True where the user's file has one of these names, which a candidate's methods must not take.
  bool Names(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return HasWord(source, name); });
  }
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
  // Names in Python of weights that are values of their own.
  std::vector<std::pair<ValueId, std::string>> weights;
  std::optional<ImportedParts> imported;
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

}  // namespace davinci::synth
