// The file of a candidate for an imported module: the user's own file, then the kernels, then for
// each shape that has kernels a class (or function) that differs from the one before in its forward
// alone. A call of a shape that a class has no kernels for goes on to the class that it extends;
// the last one is the user's. Weights are those of the one object. Internal.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "davinci/synth/render.h"

namespace davinci::teacher {

// forward() of one shape.
struct ImportedForward {
  const synth::ImportedParts* from = nullptr;
  std::vector<std::string> inputs;       // names
  std::set<std::string> read_inputs;     // that kernels read
  std::vector<std::string> lines;        // launches, and calls of PyTorch
  std::vector<std::string> constants;    // variables that are made once for a device
  std::vector<std::string> constant_lines;
  std::vector<std::string> results;      // Python texts of the outputs
  bool replays = false;                  // by a graph of the launches
  bool pure = true;                      // changes no state
};

// `kernels` with the import lines before them. The first of `shapes` is the task's own.
std::string ImportedFile(const std::vector<ImportedForward>& shapes, const std::string& kernels);

// `form` with names in place of {0}, {1}, …
std::string Filled(const std::string& form, const std::vector<std::string>& names);

}  // namespace davinci::teacher
