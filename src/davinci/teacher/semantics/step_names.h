// Steps as text (steps.h), and what their names stand for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "davinci/agent/plain_forward.h"
#include "davinci/synth/graph.h"
#include "davinci/teacher/program/member_names.h"
#include "davinci/teacher/semantics/python_expression.h"

namespace davinci::teacher {

// Operators that are one call of a name of their own, whatever their spelling says.
using NamedOperators = std::map<const synth::Operator*, std::string>;

struct Step {
  std::string name;             // "t2"
  std::string operation;        // what it calls, "linear", or its operator, "+"
  bool tuple = false;           // several tensors, which further steps take apart
  std::string key;              // that stands for its result in other steps' expressions
  PythonExpression meant = {};  // what an evaluator reads
};

// A size with a letter stands at an axis of a tensor of the graph. Its number in the graph's table
// would not do: the answer's graph can be one whose sizes are numbers.
struct LetterPlace {
  std::string letter;
  synth::ValueId value = 0;
  size_t axis = 0;
};

// The text, and what its names stand for: answers say them again (candidate.h).
struct Steps {
  std::string text;
  std::map<synth::ValueId, std::string> names;  // tensors of the graph: "x", "self.w", "t2"
  std::vector<std::vector<Step>> of_nodes;      // those that a node of the graph adds
  std::map<std::string, std::string> sizes;     // "x.shape[1]" -> "B"
  std::vector<LetterPlace> letters;             // of the sizes of these tensors, each letter once
  std::set<std::string> taken;                  // letters, all
  std::vector<MemberName> members;              // in the order of their lines
  agent::PlainForward plain;                    // Teacher::PlainOf, where it was asked for
};

}  // namespace davinci::teacher
