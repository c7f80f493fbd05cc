// A traced module as the graph and text that the teacher reads: its calls become nodes.
//
// A node's meaning is its text, as for generated tasks; it has no operator of the grammar. Tensors
// whose element type is not the graph's (float64 among float32, int32) are marked foreign: calls
// that touch them stay calls. Pure.
#pragma once

#include <string>

#include "davinci/base/status.h"
#include "davinci/import/traced_module.h"
#include "davinci/synth/graph.h"
#include "davinci/synth/rendered_task.h"

namespace davinci::import {

struct ImportedTask {
  synth::Graph graph{0};
  synth::RenderedTask task;
};

// What the candidate has to define: a class derived from `entry`, or a function.
struct CandidateName {
  std::string entry;    // "Model"; "": a function
  std::string defined;  // "ModelNew"
};

Result<ImportedTask> ImportGraph(const TracedModule& module, const CandidateName& name);

}  // namespace davinci::import
