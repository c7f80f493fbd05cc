// One candidate while it is written: its program, the plan of its kernels, the lines of forward()
// so far. What writes, estimates and prints it shares this. Internal.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "davinci/synth/rendered_task.h"
#include "davinci/teacher/candidate/candidate.h"
#include "davinci/teacher/candidate/file_kernels.h"
#include "davinci/teacher/program/math_text.h"
#include "davinci/teacher/regions/fusion.h"
#include "davinci/teacher/semantics/step_names.h"

namespace davinci::teacher {

// A note stands in front of each kernel of a brief text, where steps have names.
struct KernelNote {
  std::string steps;                       // "t2 linear, t3 relu"
  std::vector<std::string> reads, writes;  // its tensors, in the order of its arguments
  bool further = false;                    // the kernel has an earlier use
};

struct Draft {
  Program program;
  const synth::Graph& graph;
  const synth::RenderedTask& task;
  const Language language;
  const RuleSet rules;  // that are allowed
  const MathText& math;
  const bool brief;          // names and texts as short as they can be
  const Steps* const steps;  // whose names a brief text has; null: of its own
  FileKernels* const file;

  Plan plan = {};
  std::vector<Id> fused = {};              // by region: the product whose epilogue it is, or -1
  std::map<int, int> launches = {};        // by region
  std::set<Id> templates = {};             // values that a template computes
  std::set<Id> constants = {};             // values that are made once for a device
  std::map<Id, std::string> aliases = {};  // values that lie in another one's memory
  std::set<std::string> read_inputs = {};  // by kernels
  std::vector<std::string> forward = {}, constant_lines = {};
  bool in_constants = false;  // where lines go
  std::vector<KernelNote> notes = {};
  Candidate candidate = {};

  bool Allows(Rule rule) const { return rules.Contains(rule); }
  bool FlashAttention() const {
    return Allows(Rule::kFlashAttentionTriton) || Allows(Rule::kFlashAttentionCpp);
  }
  void Use(Rule rule) { candidate.rules.Insert(rule); }
  void Line(const std::string& line) { (in_constants ? constant_lines : forward).push_back(line); }
  std::string Variable(Id id) const {
    const auto other = aliases.find(id);
    return other == aliases.end() ? program.Variable(id) : other->second;
  }
  double Elements(Id id) const { return program.Elements(id, synth::Binding::kCuda); }
  // A value as Python text: a number, or a name.
  std::string Name(Id id) const;
  const synth::Value& InputValue(size_t i) const;
};

}  // namespace davinci::teacher
