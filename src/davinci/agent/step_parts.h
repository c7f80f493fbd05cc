// Steps that are too many for one reply, in parts: a part has some of the plan's kernels, the steps
// that these take, and the tensors of other steps as its inputs.
//
//   forward(x, mask=None)                        forward(t1)
//   x: [A, B]                                    t1: [A, B]
//   …                                            A = 512, B = 384, C = 128
//   t7: [A, B] = layer_norm(t6, self.norm)       self.fc.weight: [C, B]
//   t8: [A, C] = linear(t7, self.fc)             t2: [A, C] = linear(t1, self.fc)
//   t9: [A, C] = relu(t8)                        t3: [A, C] = relu(t2)
//   …                                            return t3
//
// A part numbers its steps and members from 1, so that parts of long tasks look like parts of short
// ones. A reply to a part has that part's kernels, their memory and their launches
// (plain_forward.h), so that the replies to all parts are one reply to the whole (part_code.h).
// Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/agent/steps_text.h"

namespace davinci::agent {

struct StepPart {
  std::string steps, plan;                   // as TaskBrief has them
  std::vector<KernelUse> uses;               // in the plan's order
  std::map<std::string, std::string> names;  // of steps and members here: those of the whole
};

// Steps, a plan or code in the names of the whole, and in those of the part. A step's name that the
// part does not have is none of the whole: "t9_" of "t9".
std::string NamedAsWhole(std::string_view text, const StepPart& part);
std::string NamedAsPart(std::string_view text, const StepPart& part);

// Parts of at most `most` steps, in an order in which none needs a later one; a kernel that takes
// more steps is a part of its own. Empty where one reply will do, where there is no plan, and where
// steps change something in place, as their order counts then.
std::vector<StepPart> PartsOf(const std::string& steps, const std::string& plan, size_t most);

}  // namespace davinci::agent
