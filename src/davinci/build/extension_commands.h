// The sources and command lines of a torch extension: what torch.utils.cpp_extension.load_inline
// would write and run, with other include paths where a thinner stage is tried. Nothing here runs
// or writes anything.
#pragma once

#include <string>
#include <vector>

#include "davinci/build/request.h"
#include "davinci/build/toolchain.h"

namespace davinci::build {

using Flags = std::vector<std::string>;

// What an extension is linked with; those of CUDA only where torch has them.
inline constexpr const char* kTorchLibraries[] = {"c10",        "c10_cuda", "torch_cpu",
                                                  "torch_cuda", "torch",    "torch_python"};

void Append(Flags* to, const Flags& more);

// One text of several sources; #line directives let errors name the user's own string and line
// ("cpp_sources", "cuda_sources[1]").
std::string JoinSources(const std::vector<std::string>& sources, const std::string& label);

// Is it a name that JoinSources gave, or that of the generated bindings?
bool IsUserFile(const std::string& file);

struct ExtensionSources {
  std::string main_cpp;  // header, sources, generated bindings
  std::string cuda_cu;   // empty without CUDA sources
};
ExtensionSources SourcesOf(const BuildRequest& request);

// How one stage of the ladder compiles. Refers to what it is given: those must outlive it.
struct ExtensionStage {
  const BuildRequest& request;
  const Toolchain& toolchain;
  bool with_cuda = false;
  // The thin classes share names with LibTorch's: nothing of them may be visible outside the
  // module.
  bool hide_symbols = false;
  Flags includes;  // of the stage; torch's, CUDA's and Python's own come after them
  std::string library_headers = "";  // folder that is searched last; empty: none
};

// main.cpp to main.o. `cflags` are the candidate's, checked.
Flags CppCommand(const ExtensionStage& stage, const Flags& cflags);

// cuda.cu to cuda.o for `arch` ("sm_90"), unless the candidate's checked `cuda_cflags` name
// architectures themselves.
Flags CudaCommand(const ExtensionStage& stage, const std::string& arch, const Flags& cuda_cflags);

// `objects` to <name>.so, against torch's libraries. `stubs` is a folder of stand-ins for them
// (ExtensionBuilder::StubLibraries), or empty.
Flags LinkCommand(const ExtensionStage& stage, const Flags& objects, const Flags& ldflags,
                  const std::string& stubs);

}  // namespace davinci::build
