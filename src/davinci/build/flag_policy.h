// Which compiler flags a candidate may choose. Flags reach g++, nvcc and the linker; some of them
// make a compiler run programs, load plugins or write elsewhere. The sandbox contains all of that
// anyway; this list refuses it with a clear message and keeps outputs where the builder expects
// them. Everything not known to be harmless is refused.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace davinci::build {

enum class FlagTarget { kHostCompiler, kNvcc, kNvrtc, kLinker };

struct FlagRefusal {
  std::string flag;
  std::string message;  // "flag '-fplugin=x' is not allowed: …"
};

// Splits entries at blanks as a shell would ("-O3 -march=native" is two flags) and checks each.
// `allowed_dirs` are the folders that -I, -isystem and -L may name (and everything below them).
std::variant<std::vector<std::string>, FlagRefusal> CheckFlags(
    FlagTarget target, const std::vector<std::string>& flags,
    const std::vector<std::filesystem::path>& allowed_dirs);

// Whether the artifact depends on the CPU it is built on.
bool DependsOnHostCpu(const std::vector<std::string>& flags);

}  // namespace davinci::build
