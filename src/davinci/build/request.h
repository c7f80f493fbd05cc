// What a build is asked for and what comes of it. The same documents travel as JSON from the
// candidate's process to the supervisor, so everything in a request is hostile until checked: sizes
// are bounded here, flags in flag_policy.h. Which Python, which compilers and where files go is
// decided by the service, never by a request.
//
// Request (all keys but "kind" optional; unknown keys are errors):
//   {"kind": "extension", "name": "my_ext", "cpp_sources": [...], "cuda_sources": [...],
//    "functions": {"f": "doc"} | ["f"], "extra_cflags": [...], "extra_cuda_cflags": [...],
//    "extra_ldflags": [...], "extra_include_paths": [...], "with_cuda": true,
//    "no_implicit_headers": false, "cuda_arch": "sm_90"}
//   {"kind": "library", "cpp_sources": ["..."], "extra_cflags": [...]}
//     a shared object with a plain C ABI
//   {"kind": "launcher", "cpp_sources": ["..."], "extra_include_paths": [...]}
//     C, as Triton generates it to launch a kernel: a Python extension that calls the CUDA driver
//   {"kind": "cubin", "cuda_sources": ["..."], "extra_cuda_cflags": [...], "cuda_arch": "sm_90"}
//     NVRTC, else nvcc
//
// Outcome:
//   {"ok": true, "path": "/…/my_ext.so", "module": "my_ext", "key": "<64 hex>", "cached": false,
//    "stage": "compat", "steps": [{"name": "g++ main.cpp", "seconds": 0.7}], "seconds": 1.1}
//   {"ok": false, "error": {"kind": "compile_error" | "policy_violation" | "timeout" |
//                                   "out_of_memory" | "unavailable",
//                           "message": "…at most 4 kB…", "file": "cpp_sources", "line": 3},
//    "key": …, "stage": …, "steps": …, "seconds": …}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::build {

inline constexpr size_t kMaxRequestBytes = 8u << 20;  // a request document
inline constexpr size_t kMaxSourceBytes = 4u << 20;   // all sources together
inline constexpr size_t kMaxFlags = 256;              // of each list
inline constexpr size_t kMaxFlagBytes = 4096;
inline constexpr size_t kMaxErrorBytes = 4096;  // BuildOutcome::message

enum class BuildKind { kExtension, kLibrary, kLauncher, kCubin };

struct BuildRequest {
  BuildKind kind = BuildKind::kExtension;
  std::string name = "extension";  // C identifier; the Python module's name
  std::vector<std::string> cpp_sources;
  std::vector<std::string> cuda_sources;
  // Functions to bind, with their docstrings. nullopt: the sources hold their own PYBIND11_MODULE.
  std::optional<std::vector<std::pair<std::string, std::string>>> functions;
  std::vector<std::string> extra_cflags;
  std::vector<std::string> extra_cuda_cflags;
  std::vector<std::string> extra_ldflags;
  std::vector<std::string> extra_include_paths;
  bool with_cuda = false;
  bool no_implicit_headers = false;
  std::string cuda_arch;  // "sm_90"; empty: the service's default
};

// kInvalidArgument names the key that is missing, wrong, unknown or too large.
Result<BuildRequest> ParseBuildRequest(std::string_view json_text);
nlohmann::json ToJson(const BuildRequest& request);

enum class BuildError {
  kNone,
  kCompileError,
  kPolicyViolation,
  kTimeout,
  kOutOfMemory,
  kUnavailable
};
std::string_view BuildErrorName(BuildError error);

struct BuildStep {
  std::string name;
  double seconds = 0;
  std::string note;  // why the next stage was tried: the first error, as the compiler put it
};

// A wrong source is a value of this type; only our own failures (full disk, vanished compiler) are
// a Status.
struct BuildOutcome {
  bool ok() const { return error == BuildError::kNone; }

  BuildError error = BuildError::kNone;
  std::string message;  // of the error; at most kMaxErrorBytes, first error first
  std::string file;  // of the first error, as the user knows it ("cpp_sources", "cuda_sources[1]"),
                     // else empty
  int line = 0;      // within `file`, from 1; 0 = unknown

  std::string path;         // the artifact: a .so or .cubin in the cache; read-only to the caller
  std::string module_name;  // to import it by
  std::string key;  // content address of the request and everything that went into the artifact
  bool cached = false;
  std::string
      stage;  // "compat" | "slim" | "full" for extensions, "library", "launcher", "nvrtc", "nvcc"
  std::vector<BuildStep> steps;
  double seconds = 0;  // wall time of this call, cache look-up included
};

nlohmann::json ToJson(const BuildOutcome& outcome);
Result<BuildOutcome> ParseBuildOutcome(std::string_view json_text);

}  // namespace davinci::build
