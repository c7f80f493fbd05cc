// Kernels carried as text inside the program (the judge's own: kernels/*.cu), compiled by NVRTC
// for the device at first use and kept as a cubin in a cache directory, so that one process in the
// life of a machine pays for compiling.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/gpu/driver_api.h"

namespace davinci::gpu {

// The judge's kernels as one translation unit; also what a test hands to nvcc.
const std::string& KernelSource();

struct KernelLibraryOptions {
  std::string source;                            // one translation unit; empty: KernelSource()
  std::vector<std::string> library_directories;  // searched for NVRTC first
  std::filesystem::path cache_directory;         // made when missing; empty: compile every time
};

// Loaded into one context and unloaded with this object. Immutable after Load; thread-safe.
class KernelLibrary {
 public:
  static Result<std::unique_ptr<KernelLibrary>> Load(std::shared_ptr<CudaContext> context,
                                                     const KernelLibraryOptions& options);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  const CudaContext& context() const { return *context_; }
  // kInternal when the text has no such kernel.
  Result<CuFunction> Find(const char* name) const;

  bool from_cache() const { return from_cache_; }
  double compile_ms() const { return compile_ms_; }  // 0 when from the cache
  const std::string& architecture() const { return architecture_; }
  const std::string& nvrtc_version() const { return nvrtc_version_; }  // empty when from the cache

 private:
  KernelLibrary() = default;
  std::shared_ptr<CudaContext> context_;
  CuModule module_ = nullptr;
  bool from_cache_ = false;
  double compile_ms_ = 0;
  std::string architecture_;
  std::string nvrtc_version_;
};

}  // namespace davinci::gpu
