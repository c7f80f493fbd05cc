// One region as the text of a kernel, and of its call, in one language.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/regions/kernel_form.h"
#include "davinci/teacher/regions/product.h"
#include "davinci/teacher/rules/launch_settings.h"
#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

struct EmitOptions {
  RuleSet rules;
  // Triton in the short form of a delta reply: sizes are constants of the kernel, whose parameters
  // in capitals the prelude's `kernel` takes for constants; loads, stores and reductions are the
  // prelude's.
  bool brief = false;
  LaunchSettings launch = {};
  std::map<Id, std::string> names = {};  // of values in the text, where a step makes them: "t7"
};

struct KernelText {
  std::string source;             // definitions in the language
  std::string binding;            // Python at module level
  std::vector<std::string> call;  // Python lines in forward
  std::set<std::string> helpers;  // of the prelude
  RuleSet used;                   // rules that the text shows
};

// `product`: the region is the epilogue of its kernel (product.h).
KernelText EmitTriton(Program* program, const Region& region, const KernelForm& form,
                      const EmitOptions& options, const ProductKernel* product = nullptr);
KernelText EmitCpp(Program* program, const Region& region, const KernelForm& form,
                   const EmitOptions& options);
// Without text: the region is not one for CUDA C++ (scans, few long rows).
KernelText EmitCuda(Program* program, const Region& region, const KernelForm& form,
                    const EmitOptions& options);
// The text that the kernels of a file in CUDA C++ need before them.
std::string CudaPrelude(const std::set<std::string>& helpers, const std::string& kernels);
// The wrapper of kernels that are launched without Triton's look-up.
std::string_view TritonDirect();
// Definitions of helpers that the kernels of a file need; those of C++ are in math_text.h.
std::string TritonPrelude(const std::set<std::string>& helpers);

// Python text of a quotient rounded up, and of the next power of two. triton.cdiv and its like cost
// the host more than a launch leaves time for.
std::string CeilDiv(const std::string& size, int64_t by);
std::string NextPowerOfTwo(const std::string& size);

// "{0} + {1}" with its operands.
std::string Substituted(const std::string& form, const std::vector<std::string>& operands);

}  // namespace davinci::teacher
