#include "davinci/build/extension_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "davinci/build/source_scan.h"

namespace davinci::build {
namespace {

namespace fs = std::filesystem;

std::string EscapeLiteral(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

std::string MajorOf(std::string_view version) {
  const size_t digit = version.find_first_of("0123456789");
  if (digit == std::string_view::npos) return "";
  const size_t end = version.find_first_not_of("0123456789", digit);
  return std::string(version.substr(digit, end - digit));
}

// "Cuda compilation tools, release 13.0, V13.0.88" -> "13"
std::string NvccMajor(const std::string& line) {
  const size_t at = line.find("release ");
  return at == std::string::npos ? "" : MajorOf(std::string_view(line).substr(at));
}

Flags Definitions(const ExtensionStage& stage) {
  return {"-DTORCH_EXTENSION_NAME=" + stage.request.name, "-DTORCH_API_INCLUDE_EXTENSION_H",
          fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", stage.toolchain.python.cxx11_abi ? 1 : 0)};
}

Flags Includes(const ExtensionStage& stage) {
  const Toolchain& t = stage.toolchain;
  const std::string torch = t.python.torch_dir + "/include";
  Flags includes = stage.includes;
  Append(&includes, {"-isystem", torch, "-isystem", torch + "/torch/csrc/api/include"});
  if (stage.with_cuda) Append(&includes, {"-isystem", t.cuda_home + "/include"});
  Append(&includes, {"-isystem", t.python.include_dir});
  return includes;
}

bool NamesArchitecture(const std::string& flag) {
  return flag.starts_with("-arch") || flag.starts_with("-gencode") ||
         flag.starts_with("--gpu-arch") || flag.starts_with("--generate-code");
}

// The same runtime as torch's where both are of one major version; else its own copy, so that the
// module loads anyway.
Flags CudaRuntime(const Toolchain& t) {
  Flags flags;
  for (const char* lib : {"/lib64", "/lib"}) {
    std::error_code error;
    if (!fs::exists(t.cuda_home + lib, error)) continue;
    flags.push_back("-L" + t.cuda_home + lib);
    break;
  }
  const std::string& torch_version = t.python.torch_cuda_version;
  const bool shared = !torch_version.empty() && MajorOf(torch_version) == NvccMajor(t.nvcc.version);
  Append(&flags,
         shared ? Flags{"-lcudart"} : Flags{"-lcudart_static", "-ldl", "-lrt", "-lpthread"});
  return flags;
}

}  // namespace

void Append(Flags* to, const Flags& more) { to->insert(to->end(), more.begin(), more.end()); }

std::string JoinSources(const std::vector<std::string>& sources, const std::string& label) {
  std::string out;
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::string name = sources.size() == 1 ? label : fmt::format("{}[{}]", label, i);
    out += fmt::format("#line 1 \"{}\"\n{}\n", name, sources[i]);
  }
  return out;
}

bool IsUserFile(const std::string& file) {
  return file.starts_with("cpp_sources") || file.starts_with("cuda_sources") || file == "bindings";
}

ExtensionSources SourcesOf(const BuildRequest& request) {
  ExtensionSources sources;
  if (!request.no_implicit_headers) sources.main_cpp = "#include <torch/extension.h>\n";
  sources.main_cpp += JoinSources(request.cpp_sources, "cpp_sources");
  if (request.functions) {
    sources.main_cpp += "#line 1 \"bindings\"\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n";
    for (const auto& [function, doc] : *request.functions)
      sources.main_cpp += fmt::format("m.def(\"{}\", torch::wrap_pybind_function({}), \"{}\");\n",
                                      function, function, EscapeLiteral(doc));
    sources.main_cpp += "}\n";
  }
  if (request.cuda_sources.empty()) return sources;
  if (!request.no_implicit_headers)
    sources.cuda_cu = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n";
  sources.cuda_cu += JoinSources(request.cuda_sources, "cuda_sources");
  return sources;
}

// Flags in torch's order: its own, then the candidate's.
Flags CppCommand(const ExtensionStage& stage, const Flags& cflags) {
  Flags argv = {stage.toolchain.cxx.path};
  Append(&argv, Definitions(stage));
  Append(&argv, Includes(stage));
  if (stage.request.functions || NeedsPython(JoinSources(stage.request.cpp_sources, "cpp_sources")))
    argv.push_back("-DDAVINCI_NEED_PYTHON");
  Append(&argv, {"-fPIC", "-pipe", "-fdiagnostics-color=never", "-fmax-errors=20"});
  if (stage.hide_symbols) argv.push_back("-fvisibility=hidden");
  if (!stage.library_headers.empty()) Append(&argv, {"-idirafter", stage.library_headers});
  Append(&argv, cflags);
  Append(&argv, {"-c", "main.cpp", "-o", "main.o"});
  return argv;
}

Flags CudaCommand(const ExtensionStage& stage, const std::string& arch, const Flags& cuda_cflags) {
  Flags argv = {stage.toolchain.nvcc.path};
  Append(&argv, Definitions(stage));
  Append(&argv, Includes(stage));
  if (NeedsPython(JoinSources(stage.request.cuda_sources, "cuda_sources")))
    argv.push_back("-DDAVINCI_NEED_PYTHON");
  Append(&argv, {"-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
                 "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__",
                 "--expt-relaxed-constexpr"});
  if (std::none_of(cuda_cflags.begin(), cuda_cflags.end(), NamesArchitecture)) {
    const std::string number = arch.substr(3);
    argv.push_back(fmt::format("-gencode=arch=compute_{},code=sm_{}", number, number));
  }
  Append(&argv, {"-ccbin", stage.toolchain.cxx.path, "-Xcompiler=-fPIC"});
  if (stage.hide_symbols) argv.push_back("-Xcompiler=-fvisibility=hidden");
  if (!stage.library_headers.empty())
    argv.push_back("-Xcompiler=-idirafter," + stage.library_headers);
  Append(&argv, cuda_cflags);
  Append(&argv, {"-c", "cuda.cu", "-o", "cuda.o"});
  return argv;
}

Flags LinkCommand(const ExtensionStage& stage, const Flags& objects, const Flags& ldflags,
                  const std::string& stubs) {
  const Toolchain& t = stage.toolchain;
  Flags argv = {t.cxx.path, "-shared"};
  Append(&argv, objects);
  Append(&argv, {"-o", stage.request.name + ".so"});
  // OpenMP regions in the object need the runtime; torch leaves it to be found in the process,
  // which has one.
  Append(&argv, ldflags);
  if (!stubs.empty()) Append(&argv, {"-L" + stubs, "-Wl,--no-as-needed"});
  const std::string libraries = t.python.torch_dir + "/lib";
  argv.push_back("-L" + libraries);
  for (const std::string library : kTorchLibraries) {
    std::error_code error;
    if (!library.ends_with("_cuda") ||
        (stage.with_cuda && fs::exists(libraries + "/lib" + library + ".so", error)))
      argv.push_back("-l" + library);
  }
  if (!stubs.empty()) argv.push_back("-Wl,--as-needed");
  if (stage.with_cuda) Append(&argv, CudaRuntime(t));
  return argv;
}

}  // namespace davinci::build
