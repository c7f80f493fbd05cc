// The code of replies to parts of a task's steps (step_parts.h): kernels with their notes, and
// lines between them that make their memory and launch them (plain_forward.h). Pure.
#pragma once

#include <string>
#include <vector>

#include "davinci/agent/step_parts.h"

namespace davinci::agent {

// Returns what the code of a reply beside the whole plan says of the part, in the part's names; "":
// its lines cannot be told apart.
std::string CodeOfPart(const std::string& code, const StepPart& part);

struct JoinedCode {
  std::string code;
  std::vector<std::vector<std::string>> kernels;  // of each part, by the names that they have now
};

// The code that says what those of all parts say, all in names of the whole. Names that two parts
// have get a number; kernels that are alike stay apart, so that one part's mistake in a launch does
// not cost the others.
JoinedCode JoinParts(const std::vector<std::string>& codes);

}  // namespace davinci::agent
