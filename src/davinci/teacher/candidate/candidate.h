// The teacher's answer to one task in one language.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/program/program.h"
#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

struct Candidate {
  // With <entry>New: a Python file, or a delta reply (agent/delta_reply.h).
  std::string source;
  RuleSet rules;                   // that the text shows
  std::set<std::string> skills;    // theirs
  int own_kernels = 0;             // regions
  std::vector<LeftOperator> left;  // operators left to PyTorch
  bool prefers_vendor = false;     // PyTorch's own kernels are expected to be as fast
};

}  // namespace davinci::teacher
