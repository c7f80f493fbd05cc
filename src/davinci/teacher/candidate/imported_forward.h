// The forward() that a candidate has for one shape of an imported module. Internal.
#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/synth/rendered_task.h"
#include "davinci/teacher/semantics/form_filler.h"

namespace davinci::teacher {

// forward() of one shape.
struct ImportedForward {
  const synth::ImportedParts* from = nullptr;
  std::vector<std::string> inputs;     // names
  std::set<std::string> read_inputs;   // that kernels read
  std::vector<std::string> lines;      // launches, and calls of PyTorch
  std::vector<std::string> constants;  // variables that are made once for a device
  std::vector<std::string> constant_lines;
  std::vector<std::string> results;  // Python texts of the outputs
  bool replays = false;              // by a graph of the launches
  bool pure = true;                  // changes no state
};

// Names that the class gets for constants and for the graph. Where the user's file has one of them,
// it gets neither.
inline constexpr std::array<std::string_view, 4> kConstantNames = {
    "kernel_constants", "kept_constants", "_constants", "_constants_device"};
inline constexpr std::array<std::string_view, 11> kReplayNames = {
    "kernel_compute", "kernel_replay",  "kernel_places",   "kernel_capture",
    "_replay_key",    "_replay_graph",  "_replay_tensors", "_replay_modules",
    "_replay_inputs", "_replay_result", "_replay_shapes"};

// Has the user's file one of the names?
inline bool HasOneOf(const synth::ImportedParts& from, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return from.Names({name}); });
}

}  // namespace davinci::teacher
