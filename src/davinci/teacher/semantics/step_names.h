// Steps as text (steps.h), and what their names stand for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "davinci/synth/graph.h"
#include "davinci/teacher/program/member_names.h"

namespace davinci::teacher {

struct Step {
  std::string name;       // "t2"
  std::string operation;  // what it calls, "linear", or its operator, "+"
  bool tuple = false;     // several tensors, which further steps take apart
};

// The text, and what its names stand for: answers say them again (candidate.h).
struct Steps {
  std::string text;
  std::map<synth::ValueId, std::string> names;  // tensors of the graph: "x", "self.w", "t2"
  std::vector<std::vector<Step>> of_nodes;      // those that a node of the graph adds
  std::map<std::string, std::string> sizes;     // "x.shape[1]" -> "B"
  std::vector<std::pair<synth::DimId, std::string>> letters;  // of the sizes of these tensors
  std::set<std::string> taken;                                // letters, all
  std::vector<MemberName> members;                            // in the order of their lines
};

}  // namespace davinci::teacher
