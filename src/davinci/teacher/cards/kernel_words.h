// Other names for what the kernels of short replies call alike everywhere: kernels, indices and
// masks. A card and the answer that follows it get the same names. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "davinci/base/rng.h"

namespace davinci::teacher {

struct KernelWords {
  std::string kernel = "f";                                  // f1, f2, … are kernels
  std::vector<std::pair<std::string, std::string>> instead;  // of names inside kernels
};

KernelWords DrawKernelWords(SplitMix64* rng);
// The kernels, and the launches of them; the class behind the kernels keeps its other names.
std::string WithKernelWords(const std::string& reply, const KernelWords& words);

}  // namespace davinci::teacher
