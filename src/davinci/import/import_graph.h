// A traced module as the graph and text that the teacher reads: its calls become nodes, whose
// operators are made here, one for each function that is called.
//
// A node's meaning is its text, as for generated tasks. Tensors whose element type is not the
// graph's (float64 among float32, int32) are marked foreign: calls that touch them stay calls.
// Pure.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "davinci/base/status.h"
#include "davinci/import/traced_module.h"
#include "davinci/synth/graph.h"
#include "davinci/synth/render.h"

namespace davinci::import {

// Kind of work of each function of PyTorch by its last name: "conv2d" -> "conv"
// (synth/teacher/families.toml).
using CallFamilies = std::map<std::string, std::string, std::less<>>;
Result<CallFamilies> LoadCallFamilies(const std::filesystem::path& synth_folder);

struct ImportedTask {
  synth::Graph graph{0};
  synth::RenderedTask task;
  // Of the nodes: an address stays what it is when the whole is moved.
  std::unique_ptr<std::deque<synth::Operator>> operators;
};

// What the candidate has to define: a class derived from `entry`, or a function.
struct CandidateName {
  std::string entry;    // "Model"; "": a function
  std::string defined;  // "ModelNew"
};

Result<ImportedTask> ImportGraph(const TracedModule& module, const CandidateName& name,
                                 const CallFamilies& families);

}  // namespace davinci::import
