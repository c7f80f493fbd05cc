// forward() of an imported module by a graph of its launches. Internal.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "davinci/teacher/candidate/imported_file.h"

namespace davinci::teacher {

// Names that the class gets for constants and for the graph. Where the user's file has one of them,
// it gets neither.
inline constexpr std::array<std::string_view, 4> kConstantNames = {
    "kernel_constants", "kept_constants", "_constants", "_constants_device"};
inline constexpr std::array<std::string_view, 10> kReplayNames = {
    "kernel_compute", "kernel_replay",   "kernel_places",   "kernel_capture", "_replay_key",
    "_replay_graph",  "_replay_tensors", "_replay_modules", "_replay_inputs", "_replay_result"};

// Has the user's file one of the names?
inline bool HasOneOf(const synth::ImportedParts& from, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return from.Names({name}); });
}

// The methods behind kernel_compute(); `guard`: the first lines of forward().
std::string ImportedReplay(const ImportedForward& shape, const std::string& guard);

}  // namespace davinci::teacher
