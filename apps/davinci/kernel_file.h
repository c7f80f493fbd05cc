// Files that hold nothing but kernels (.cu, .cpp, Triton functions), made into candidates.
#pragma once

#include <cstdint>
#include <string>

#include "davinci/base/status.h"
#include "davinci/task/task.h"

namespace davinci::app {

constexpr uint64_t kMaxKernelBytes = 4u << 20;

// Is it a kernel file: C++ or CUDA by its name, or Python with @triton.jit and without `entry`?
bool IsKernelFile(const std::string& path, std::string_view source, const task::Task& task);

// The text of a candidate: the reference's class, whose state the kernel works on, and a forward
// that calls the kernels (python/davinci_runtime/harness.py says how it is written).
std::string HarnessOf(const std::string& path, std::string_view source, const task::Task& task);

}  // namespace davinci::app
