#pragma once

#include "davinci/synth/dim.h"
#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

struct LowerOptions {
  RuleSet rules;                                   // that structure may follow
  synth::Binding binding = synth::Binding::kCuda;  // sizes that decide which order is cheaper
  bool in_cpp = false;  // kernels are C++: what is known of this language alone is a kernel, too
  bool calls_only = false;  // every operator stays a PyTorch call
  // Sizes that a convolution or pool of PyTorch's gives are read from its result: "t1.shape[2]" in
  // place of "(x.shape[2] - 3) // 2 + 1".
  bool sizes_of_results = false;
  // The sizes of the axes of a tensor that a kernel reads at places are numbers of their own for
  // each axis, alike or not: the kernel's text does not depend on which sizes are alike.
  bool sizes_by_axis = false;
};

}  // namespace davinci::teacher
