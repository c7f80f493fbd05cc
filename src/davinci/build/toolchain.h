// Toolchain: the compilers, CUDA tools and Python/torch installation of this machine.
//
// Probing runs each tool once (g++ --version, nvcc --version, the given Python importing torch);
// the answers are kept in the cache folder under the tool's path, size and modification time, so
// that a second probe costs about a millisecond. Something missing is a value (`found` false and a
// remedy), never an error: the judge works without nvcc, `davinci doctor` prints what is here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::build {

struct Tool {
  bool found = false;
  std::string path;
  std::string version;  // first line of what the tool says about itself
  std::string remedy;   // the command that installs it, when not found
};

struct PythonTorch {
  bool found = false;  // Python runs and has headers
  std::string python;  // as given
  std::string version;
  std::string include_dir;            // holds Python.h
  std::vector<std::string> prefixes;  // sys.prefix, sys.base_prefix: readable in the build sandbox
  bool has_torch = false;
  std::string torch_version;        // "2.13.0+cpu"
  std::string torch_cuda_version;   // "13.0"; empty for a CPU build
  std::string torch_dir;            // …/site-packages/torch
  std::string torch_std = "c++17";  // the standard torch's own headers ask for
  bool cxx11_abi = true;
  std::string remedy;
};

struct Toolchain {
  Tool cxx;  // g++, else clang++
  Tool nvcc;
  Tool ptxas;
  Tool nvrtc;             // path of libnvrtc.so
  std::string cuda_home;  // of nvcc
  PythonTorch python;
  std::string cpu_model;
  std::string cpu_identity;  // hash of model and ISA flags: what -march=native resolves by

  // Everything that may change an artifact, for cache keys.
  std::string Fingerprint() const;
};

struct ToolchainOptions {
  std::string python;               // empty: `python3` of PATH
  std::filesystem::path cache_dir;  // empty: davinci::CacheDir("toolchain")
};

// Fails only when the cache folder cannot be made.
Result<Toolchain> ProbeToolchain(const ToolchainOptions& options);

}  // namespace davinci::build
