#include "davinci/gpu/kernel_library.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/gpu/nvrtc.h"

namespace davinci::gpu {
namespace {

// -fmad=false: the host's comparator does not contract a*b+c, and the two must agree to the last
// bit. The kernels are bound by memory; the one that is not, the arithmetic probe, calls fmaf
// itself.
const std::vector<std::string>& CompileOptions() {
  static const std::vector<std::string> options = {"--std=c++17", "-fmad=false", "-lineinfo"};
  return options;
}

std::string CacheName(const std::string& source, const std::string& architecture) {
  Sha256 hash;
  hash.Field(source).Field(architecture);
  for (const std::string& option : CompileOptions()) hash.Field(option);
  return fmt::format("kernels-{}-{}.cubin", architecture, hash.FinishHex().substr(0, 24));
}

}  // namespace

const std::string& KernelSource() {
  static const std::string source =
#include "davinci_gpu_kernels.inc"
      ;
  return source;
}

Result<std::unique_ptr<KernelLibrary>> KernelLibrary::Load(std::shared_ptr<CudaContext> context,
                                                           const KernelLibraryOptions& options) {
  std::unique_ptr<KernelLibrary> library(new KernelLibrary());
  library->context_ = std::move(context);
  const CudaContext& device = *library->context_;
  const CudaDriver& driver = device.driver();
  library->architecture_ =
      fmt::format("sm_{}{}", device.properties().compute_major, device.properties().compute_minor);
  ScopedCudaContext scope(device);
  DAVINCI_RETURN_IF_ERROR(scope.status());

  const std::string& source = options.source.empty() ? KernelSource() : options.source;
  std::filesystem::path cached;
  if (!options.cache_directory.empty()) {
    cached = options.cache_directory / CacheName(source, library->architecture_);
    // A damaged or foreign file fails to load and is replaced below.
    if (auto cubin = ReadFile(cached, 64U << 20);
        cubin.ok() && driver.ModuleLoadData(&library->module_, cubin->data()) == kCuSuccess) {
      library->from_cache_ = true;
      return library;
    }
    library->module_ = nullptr;
  }

  DAVINCI_ASSIGN_OR_RETURN(const Nvrtc nvrtc, Nvrtc::Load(options.library_directories));
  library->nvrtc_version_ = nvrtc.version();
  const int64_t started_ns = MonotonicNs();
  DAVINCI_ASSIGN_OR_RETURN(
      const NvrtcOutput output,
      nvrtc.Compile(source, "kernels.cu", library->architecture_, CompileOptions()));
  library->compile_ms_ = 1e-6 * static_cast<double>(MonotonicNs() - started_ns);
  if (!output.ok) {
    return Internal(fmt::format("NVRTC {} does not compile davinci's kernels for {}: {}",
                                nvrtc.version(), library->architecture_, output.log));
  }
  DAVINCI_RETURN_IF_ERROR(driver.Check(
      driver.ModuleLoadData(&library->module_, output.cubin.data()), "cuModuleLoadData"));
  if (!cached.empty()) {
    // The cache only saves time: a full disk or a read-only folder must not stop the judge.
    if (const Status made = MakeDirs(options.cache_directory); made.ok()) {
      [[maybe_unused]] const Status kept =
          WriteFileAtomic(cached, output.cubin, Durability::kFastest);
    }
  }
  return library;
}

KernelLibrary::~KernelLibrary() {
  if (module_ == nullptr) return;
  ScopedCudaContext scope(*context_);
  if (scope.status().ok()) context_->driver().ModuleUnload(module_);
}

Result<CuFunction> KernelLibrary::Find(const char* name) const {
  const CudaDriver& driver = context_->driver();
  CuFunction function = nullptr;
  DAVINCI_RETURN_IF_ERROR(driver.Check(driver.ModuleGetFunction(&function, module_, name), name));
  return function;
}

}  // namespace davinci::gpu
