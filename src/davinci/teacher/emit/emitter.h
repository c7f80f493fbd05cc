// One region as the text of a kernel, and of its call, in one language.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/regions/kernel_form.h"
#include "davinci/teacher/regions/product.h"

namespace davinci::teacher {

enum class Language { kTriton, kCpp, kCuda };
std::string_view LanguageName(Language language);

struct EmitRules {
  bool rows_in_registers = true;  // a row is loaded once where it fits
  bool scan_tiles = true;         // a scan takes many elements at once
  bool many_rows = true;          // several short rows per program
  bool columns = true;            // lanes along the contiguous axis
  bool split_rows = true;         // few long rows are spread over several programs each
  bool one_pass_variance = true;  // squares about the mean are summed with the mean's sum
  bool plane_blocks = true;       // a block of reduced elements lies in one contiguous plane
  bool constant_sizes = true;     // sizes that divide are known when the kernel is compiled
  bool fast_exp = true;           // exp, log, tanh, … without calls
  bool inline_erf = true;         // erf without calls
  bool stored_values = true;      // what several passes need is computed once
  bool pick_class = true;         // a class' element is read, not searched
  bool partial_sums = true;       // sums in vector lanes
  bool warp_rows = true;          // CUDA C++: a warp for each short row
  bool wide_loads = true;         // CUDA C++: sixteen bytes a thread
  // Templates (kernel_templates.h).
  bool flash_attention = true;     // attention with an online softmax
  bool stop_at_diagonal = true;    // causal attention leaves out later keys
  bool select_largest = true;      // the largest elements of a row in one read
  bool gather_into_places = true;  // sums into places without atomics
  // Triton in the short form of a delta reply: sizes are constants of the kernel, whose parameters
  // in capitals the prelude's `kernel` takes for constants; loads, stores and reductions are the
  // prelude's.
  bool brief = false;
};

struct KernelText {
  std::string source;             // definitions in the language
  std::string binding;            // Python at module level
  std::vector<std::string> call;  // Python lines in forward
  std::set<std::string> helpers;  // of the prelude
  std::set<std::string> used;     // what the text uses of the rules, by name of the rule
};

// `product`: the region is the epilogue of its kernel (product.h).
KernelText EmitTriton(Program* program, const Region& region, const KernelForm& form,
                      const EmitRules& rules, const ProductKernel* product = nullptr);
KernelText EmitCpp(Program* program, const Region& region, const KernelForm& form,
                   const EmitRules& rules);
// Without text: the region is not one for CUDA C++ (scans, few long rows).
KernelText EmitCuda(Program* program, const Region& region, const KernelForm& form,
                    const EmitRules& rules);
// What the kernels of a file in CUDA C++ need before them.
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
