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

// The same, and the kernel may begin while the one ahead of it on the stream runs
// (gpu::kCuLaunchProgrammaticSerialization).
inline Status LaunchOverlapping(const gpu::KernelLibrary& library, gpu::CuFunction function,
                                const char* name, void* stream, int64_t blocks_x, int64_t blocks_y,
                                unsigned threads, void** parameters) {
  if (blocks_x == 0) return Status::Ok();
  gpu::CuLaunchAttribute attribute;
  attribute.id = gpu::kCuLaunchProgrammaticSerialization;
  attribute.value.flag = 1;
  gpu::CuLaunchConfig config;
  config.grid_x = static_cast<unsigned>(blocks_x);
  config.grid_y = static_cast<unsigned>(blocks_y);
  config.block_x = threads;
  config.stream = static_cast<gpu::CuStream>(stream);
  config.attributes = &attribute;
  config.num_attributes = 1;
  const gpu::CudaDriver& driver = library.context().driver();
  return driver.Check(driver.LaunchKernelEx(&config, function, parameters, nullptr), name);
}

}  // namespace davinci::model
