// One launch of a kernel of this module's: it only enqueues.
#pragma once

#include <cstdint>

#include "davinci/base/status.h"
#include "davinci/gpu/kernel_library.h"

namespace davinci::model {

// `stream`: a CUDA stream of the primary context, which must be current on the calling thread.
// Without blocks nothing happens.
inline Status LaunchKernel(const gpu::KernelLibrary& library, gpu::CuFunction function,
                           const char* name, void* stream, int64_t blocks_x, int64_t blocks_y,
                           unsigned threads, void** parameters) {
  if (blocks_x == 0) return Status::Ok();
  const gpu::CudaDriver& driver = library.context().driver();
  return driver.Check(driver.LaunchKernel(function, static_cast<unsigned>(blocks_x),
                                          static_cast<unsigned>(blocks_y), 1, threads, 1, 1, 0,
                                          static_cast<gpu::CuStream>(stream), parameters, nullptr),
                      name);
}

}  // namespace davinci::model
