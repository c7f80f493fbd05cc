#include "davinci/gpu/nvrtc.h"

#include <fmt/format.h>

#include <filesystem>

#include "davinci/gpu/dynamic_library.h"

namespace davinci::gpu {
namespace {

constexpr int kNvrtcSuccess = 0;
constexpr int kNvrtcErrorCompilation = 6;

}  // namespace

Result<Nvrtc> Nvrtc::Load(std::span<const std::string> directories) {
  const std::vector<std::string> names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  auto library = DynamicLibrary::Open(names, directories);
  if (!library.ok()) {
    const std::vector<std::string> toolkit = {"/usr/local/cuda/lib64",
                                              "/usr/local/cuda/targets/x86_64-linux/lib"};
    library = DynamicLibrary::Open(names, toolkit);
  }
  if (!library.ok()) {
    return library.status().Annotate(
        "NVRTC (part of the CUDA toolkit and of PyTorch's nvidia-cuda-nvrtc package)");
  }
  Nvrtc nvrtc;
  nvrtc.library_path_ = library->path();
  bool complete = true;
  const auto bind = [&](auto& function, const char* symbol) {
    using Function = std::remove_reference_t<decltype(function)>;
    function = reinterpret_cast<Function>(library->FindSymbol(symbol));
    complete = complete && function != nullptr;
  };
  Functions& f = nvrtc.functions_;
  bind(f.Version, "nvrtcVersion");
  bind(f.GetErrorString, "nvrtcGetErrorString");
  bind(f.CreateProgram, "nvrtcCreateProgram");
  bind(f.DestroyProgram, "nvrtcDestroyProgram");
  bind(f.CompileProgram, "nvrtcCompileProgram");
  bind(f.GetCubinSize, "nvrtcGetCUBINSize");
  bind(f.GetCubin, "nvrtcGetCUBIN");
  bind(f.GetProgramLogSize, "nvrtcGetProgramLogSize");
  bind(f.GetProgramLog, "nvrtcGetProgramLog");
  if (!complete) {
    return FailedPrecondition(nvrtc.library_path_ + ": too old; CUDA 11.3 or newer is needed");
  }
  int major = 0;
  int minor = 0;
  if (f.Version(&major, &minor) != kNvrtcSuccess) {
    return Internal(nvrtc.library_path_ + ": nvrtcVersion failed");
  }
  nvrtc.version_ = fmt::format("{}.{}", major, minor);
  // NVRTC opens its second half by bare name when it compiles. Next to a copy inside a Python
  // package the loader would not find it, unless it is already loaded. Where it is part of the
  // system's search this changes nothing.
  const std::vector<std::string> builtins = {"libnvrtc-builtins.so." + nvrtc.version_};
  const std::vector<std::string> beside = {
      std::filesystem::path(nvrtc.library_path_).parent_path().string()};
  [[maybe_unused]] const auto preloaded = DynamicLibrary::Open(builtins, beside);
  return nvrtc;
}

Result<NvrtcOutput> Nvrtc::Compile(const std::string& source, const std::string& file_name,
                                   const std::string& architecture,
                                   std::span<const std::string> options) const {
  const Functions& f = functions_;
  Program program = nullptr;
  int code = f.CreateProgram(&program, source.c_str(), file_name.c_str(), 0, nullptr, nullptr);
  if (code != kNvrtcSuccess) {
    return Internal(fmt::format("NVRTC: {}", f.GetErrorString(code)));
  }
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> arguments = {target.c_str()};
  for (const std::string& option : options) arguments.push_back(option.c_str());
  code = f.CompileProgram(program, static_cast<int>(arguments.size()), arguments.data());

  NvrtcOutput output;
  size_t size = 0;
  if (f.GetProgramLogSize(program, &size) == kNvrtcSuccess && size > 1) {
    output.log.resize(size);
    f.GetProgramLog(program, output.log.data());
    output.log.resize(size - 1);  // NVRTC counts the terminating zero
  }
  Status status;
  if (code == kNvrtcSuccess) {
    code = f.GetCubinSize(program, &size);
    if (code == kNvrtcSuccess && size > 0) {
      output.cubin.resize(size);
      code = f.GetCubin(program, output.cubin.data());
    }
    output.ok = code == kNvrtcSuccess && !output.cubin.empty();
    if (!output.ok) status = Internal(fmt::format("NVRTC: no cubin for {}", architecture));
  } else if (code != kNvrtcErrorCompilation) {
    status = Internal(fmt::format("NVRTC: {} {}", f.GetErrorString(code), output.log));
  }
  f.DestroyProgram(&program);
  if (!status.ok()) return status;
  return output;
}

}  // namespace davinci::gpu
