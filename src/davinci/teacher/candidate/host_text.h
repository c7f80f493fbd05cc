// Lines of forward() in fewer tokens: sizes get names, and what is computed twice too. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "davinci/teacher/program/member_names.h"

namespace davinci::teacher {

// The names that a task's steps have (semantics/steps.h), for an answer that says them again.
struct HostNames {
  std::map<std::string, std::string> variables;  // of all: "t48" -> "t12"
  std::map<std::string, std::string> sizes;      // by what they are then: "t12.shape[1]" -> "B"
  // Sizes that are computed, where lines compute them: {"E", "x.shape[2] // 2"}.
  std::vector<std::pair<std::string, std::string>> formulas;
  std::set<std::string> letters;  // of sizes; no other one gets them
  std::vector<MemberName> members;
};

// The variables t1, t48, … that the lines make, in order.
std::vector<std::string> MadeVariables(const std::vector<std::string>& lines);

// `ranks`: of the arguments of forward; `result_ranks`: of what its lines make. The lines compute
// the same.
//   k1[((x.shape[0] * x.shape[1] + 1023) // 1024,)](x, t48, x.shape[1])
//   A, B = x.shape
//   k1[cdiv(A * B, 1024),](x, t1, B)
// cdiv(a, b) is a quotient rounded up, pow2(a) the next power of two. With `names` nothing but
// shapes is named that has no name there.
std::vector<std::string> ShortHostText(std::vector<std::string> lines,
                                       const std::map<std::string, size_t>& ranks,
                                       std::map<std::string, size_t> result_ranks = {},
                                       const HostNames* names = nullptr);

}  // namespace davinci::teacher
