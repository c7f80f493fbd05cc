// BuildOptions say what a graph is built under, BuildOutcome what comes of it (builder.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "davinci/synth/grammar.h"
#include "davinci/synth/graph.h"

namespace davinci::synth {

struct BuildOptions {
  uint64_t seed = 0;
  // 1: sizes over their whole range; smaller values pull them towards their least, on a log scale.
  double reach = 1;      // of the cuda target
  double reach_cpu = 1;  // of the cpu target
  Precision precision = Precision::kFp32;
  std::function<bool(const Operator&)> allowed;  // empty: all
  // An operator that the pattern names and the grammar does not have; null: there is none.
  const Operator* further = nullptr;
};

struct BuildOutcome {
  std::optional<Graph> graph;
  // Why there is none: "shape", "range", "require", "budget_cuda" (_cpu, _variant), "group",
  // "half"; "grammar: …" is a mistake in the data, with the place.
  std::string rejected;
};

}  // namespace davinci::synth
