// Compiles CUDA C++ text to a cubin in this process through NVRTC, bound at run time. No CUDA
// header is used, and none is needed by a source that includes none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::gpu {

struct NvrtcOutput {
  bool ok = false;    // false: the source does not compile; a value, not a failure of ours
  std::string cubin;  // machine code for exactly the architecture asked for
  std::string log;    // warnings and errors, possibly empty
};

class Nvrtc {
 public:
  // Looks in `directories` first (for example <site-packages>/nvidia/cu13/lib), then where the
  // loader looks, then in /usr/local/cuda/lib64. A copy that PyTorch already loaded is used before
  // all of these.
  static Result<Nvrtc> Load(std::span<const std::string> directories);

  // "13.0"
  const std::string& version() const { return version_; }
  const std::string& library_path() const { return library_path_; }
  // `architecture` as "sm_90" or "sm_90a". `options` are NVRTC's own ("-fmad=false", "-I/dir").
  // Thread-safe.
  Result<NvrtcOutput> Compile(const std::string& source, const std::string& file_name,
                              const std::string& architecture,
                              std::span<const std::string> options) const;

 private:
  using Program = struct NvrtcProgramOpaque*;
  struct Functions {
    int (*Version)(int*, int*);
    const char* (*GetErrorString)(int);
    int (*CreateProgram)(Program*, const char*, const char*, int, const char* const*,
                         const char* const*);
    int (*DestroyProgram)(Program*);
    int (*CompileProgram)(Program, int, const char* const*);
    int (*GetCubinSize)(Program, size_t*);
    int (*GetCubin)(Program, char*);
    int (*GetProgramLogSize)(Program, size_t*);
    int (*GetProgramLog)(Program, char*);
  };
  Functions functions_{};
  std::string version_;
  std::string library_path_;
};

}  // namespace davinci::gpu
