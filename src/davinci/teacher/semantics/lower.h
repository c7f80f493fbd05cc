// From an operator graph, and how its text spells the operators, to tensor primitives.
//
// The spelling decides the meaning: an operator's spellings may differ ("floor" is also written as
// torch.ceil), so each node's text is parsed and evaluated by the tables' definitions of PyTorch's
// functions. An operator whose text uses something unknown stays one opaque PyTorch call.
#pragma once

#include <vector>

#include "davinci/base/status.h"
#include "davinci/synth/rendered_task.h"
#include "davinci/teacher/program/program.h"
#include "davinci/teacher/semantics/lower_options.h"
#include "davinci/teacher/semantics/tables.h"

namespace davinci::teacher {

// Functions that the nodes call, and their kinds of work.
std::vector<Program::NodeCall> CallsOf(const synth::Graph& graph, const synth::ClassParts& parts,
                                       const Tables& tables);

// Fails where not even the PyTorch call can be written again (a size that no tensor shows).
Result<Program> Lower(const synth::Graph& graph, const synth::ClassParts& parts,
                      const Tables& tables, const LowerOptions& options = {});

}  // namespace davinci::teacher
