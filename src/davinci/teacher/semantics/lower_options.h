#pragma once

#include "davinci/synth/dim.h"
#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

struct LowerOptions {
  RuleSet rules;                                   // that structure may follow
  synth::Binding binding = synth::Binding::kCuda;  // sizes that decide which order is cheaper
  bool in_cpp = false;  // kernels are C++: what is known of this language alone is a kernel, too
  bool calls_only = false;  // every operator stays a PyTorch call
  // The kernels are a short reply's (IsBrief in candidate/candidate.h): sizes that a convolution or
  // pool of PyTorch's gives are read from its result, "t1.shape[2]" in place of
  // "(x.shape[2] - 3) // 2 + 1"; and the axes of a tensor that a kernel reads at places have a size
  // each, so that its text does not depend on which are alike.
  bool brief = false;
};

}  // namespace davinci::teacher
