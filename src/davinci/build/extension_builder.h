// ExtensionBuilder: one request -> one artifact or one error message, uncached. Runs every compiler
// in a sandbox: no network, no task data, nothing readable but the toolchain and nothing writable
// but a scratch folder.
//
// An extension goes down a ladder; a step is left only when its error may be due to leaner headers
// than the real ones:
//   compat   our own thin at::Tensor (torch_compat/), operators declared one by one,
//            bindings without pybind11
//   slim     LibTorch's own types through single headers, the same bindings
//   full     what torch.utils.cpp_extension does: torch/extension.h and pybind11
// slim and full find stand-ins (torch_compat/cuda_libraries) for headers of CUDA's libraries that
// LibTorch's own headers include and that this machine lacks.
// All translation units of a request are compiled at the same step; .cpp and .cu parts at the same
// time.
//
// A library ("plain C ABI") is one g++ call; a cubin is NVRTC, or nvcc where NVRTC is missing.
// Thread-safe; holds no request state.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/build/diagnostics.h"
#include "davinci/build/extension_commands.h"
#include "davinci/build/request.h"
#include "davinci/build/source_scan.h"
#include "davinci/build/toolchain.h"
#include "davinci/build/torch_headers.h"

namespace davinci::build {

struct BuilderOptions {
  Toolchain toolchain;
  std::filesystem::path
      support_dir;  // compat headers and support objects are kept here, by content
  std::string default_cuda_arch = "sm_90";
  std::chrono::milliseconds timeout{180'000};  // of one compiler run
  uint64_t memory_bytes = uint64_t{8} << 30;   // of one compiler run with its children
  uint64_t file_size_bytes = uint64_t{1} << 30;
  // "compat" (default), "slim" or "full": the first step of the ladder. For tests and comparisons.
  std::string first_stage = "compat";
};

class ExtensionBuilder {
 public:
  // Writes the compat headers below support_dir. Fails on an unusable folder only; missing tools
  // show at Build().
  static Result<std::unique_ptr<ExtensionBuilder>> Create(BuilderOptions options);

  // The content address of what Build() would make. Policy: flags that depend on the host's CPU add
  // its identity.
  std::string Key(const BuildRequest& request) const;

  // Builds in `work_dir` (empty, ours). On success outcome.path is the artifact inside it. A stop
  // request ends the compilers and returns kCancelled.
  Result<BuildOutcome> Build(const BuildRequest& request, const std::filesystem::path& work_dir,
                             std::stop_token stop);

  // Compiles the support object now (once per torch version, about 4 s), so that the first request
  // need not. OK and no effect without torch or a C++ compiler.
  Status WarmUp(std::stop_token stop);

  const Toolchain& toolchain() const { return options_.toolchain; }

 private:
  struct Job;  // one Build() call
  struct Step;
  explicit ExtensionBuilder(BuilderOptions options);

  // How compiling one stage of the ladder ended.
  struct StageEnd {
    const Step* failed = nullptr;  // the step whose errors to show
    bool climb = false;            // our headers may be to blame: try the next stage
  };

  Result<BuildOutcome> BuildExtension(Job* job);
  // What is missing here, with its remedy.
  std::optional<std::string> WhyNoExtensions(bool with_cuda) const;
  // Writes what the stage's headers include of the request; the include flags that lead there.
  Result<std::vector<std::string>> WriteStageHeaders(const Job& job, const std::string& stage,
                                                     const SourceScan& scan) const;
  // main.cpp and cuda.cu at the same time.
  Result<std::vector<Step>> CompileStage(Job* job, const ExtensionStage& stage, bool lean) const;
  // Books the steps.
  StageEnd EndOfStage(Job* job, const std::string& stage, const std::vector<Step>& steps, bool last,
                      BlameContext blame) const;
  Result<BuildOutcome> LinkStage(Job* job, const ExtensionStage& setup, const std::string& stage,
                                 const std::string& support);
  Result<BuildOutcome> BuildLibrary(Job* job);
  Result<BuildOutcome> BuildLauncher(Job* job);
  // One source, named `source`, to <stage>.so.
  Result<BuildOutcome> BuildShared(Job* job, const std::string& stage, const std::string& source,
                                   const std::vector<std::string>& flags,
                                   const std::vector<std::string>& libraries);
  Result<BuildOutcome> BuildCubin(Job* job);
  // Path of the support object; empty when this torch's layout is not the one the compat headers
  // assume.
  Result<std::string> SupportObject(Job* job);
  // Folder of libraries that are empty but for the names of torch's own. They are all a module
  // needs to be linked with: undefined symbols are looked up when it is loaded, and reading the
  // symbols of gigabytes takes ld a third of a second. Empty when torch's libraries go by other
  // names.
  Result<std::string> StubLibraries(Job* job);
  Result<Step> RunTool(Job* job, const std::string& name,
                       const std::vector<std::string>& argv) const;
  // One translation unit. Like torch with its own standard, but in C++17 first where that is C++20
  // and `lean`: a fifth faster, for the standard library's headers are. What does not compile so is
  // compiled again.
  Result<Step> Compile(Job* job, const std::string& name, std::vector<std::string> argv,
                       const std::vector<std::string>& own_flags, bool lean) const;

  const BuilderOptions options_;
  std::filesystem::path compat_dir_;  // …/include below it
  std::string compat_hash_;
  std::string torch_include_;
  std::unique_ptr<TorchHeaders> headers_;  // null without torch
  Mutex support_mutex_;
  bool support_known_ DAVINCI_GUARDED_BY(support_mutex_) = false;
  std::string support_path_ DAVINCI_GUARDED_BY(support_mutex_);          // empty: unusable
  std::optional<std::string> stubs_ DAVINCI_GUARDED_BY(support_mutex_);  // a value once known
};

}  // namespace davinci::build
