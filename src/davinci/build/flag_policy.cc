#include "davinci/build/flag_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace davinci::build {
namespace {

namespace fs = std::filesystem;
using Flags = std::vector<std::string>;

bool StartsWithAny(std::string_view flag, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return flag.starts_with(p); });
}

bool EqualsAny(std::string_view flag, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), flag) != names.end();
}

bool IsBelow(const fs::path& path, const std::vector<fs::path>& dirs) {
  if (!path.is_absolute()) return false;
  std::error_code error;
  const fs::path clean = fs::weakly_canonical(path, error);
  if (error) return false;
  return std::any_of(dirs.begin(), dirs.end(), [&](const fs::path& dir) {
    std::error_code e;
    const fs::path base = fs::weakly_canonical(dir, e);
    const auto [end, rest] = std::mismatch(base.begin(), base.end(), clean.begin(), clean.end());
    return !e && end == base.end();
  });
}

// -f… and -W… flags that write files, load code or run programs.
constexpr std::string_view kDangerousHost[] = {
    "-fplugin",        "-fdump",         "-fprofile",         "-fsanitize",
    "-fuse-ld",        "-fcallgraph",    "-ftest-coverage",   "-fauto-profile",
    "-fopt-info",      "-fsave",         "-fmodule",          "-fdiagnostics",
    "-fcompare-debug", "-fpch",          "-fwhole-program",   "-flto-partition",
    "-fdeps",          "-fdebug-prefix", "-ffile-prefix",     "-fmacro-prefix",
    "-fresolution",    "-fstack-usage",  "-fself-test",       "-fcoverage",
    "-fsyntax-only",   "-fpreprocessed", "-fdirectives-only", "-finstrument"};
constexpr std::string_view kHostNames[] = {"-g",       "-g0",      "-g1",   "-ggdb",
                                           "-pthread", "-fopenmp", "-pipe", "-w",
                                           "-fPIC",    "-shared",  "-ansi", "-pedantic"};
constexpr std::string_view kHostPrefixes[] = {"-O", "-f", "-m", "-D", "-U", "-std=", "--std="};
constexpr std::string_view kNvccNames[] = {"--use_fast_math",
                                           "-use_fast_math",
                                           "-lineinfo",
                                           "--generate-line-info",
                                           "--expt-relaxed-constexpr",
                                           "--expt-extended-lambda",
                                           "-expt-relaxed-constexpr",
                                           "-expt-extended-lambda",
                                           "--extended-lambda",
                                           "-extended-lambda",
                                           "-w",
                                           "-g",
                                           "-G",
                                           "--extra-device-vectorization",
                                           "--restrict",
                                           "-restrict",
                                           "-res-usage",
                                           "--resource-usage",
                                           "-allow-unsupported-compiler",
                                           "--allow-unsupported-compiler",
                                           "-dopt",
                                           "--disable-warnings",
                                           "-fPIC",
                                           "-fopenmp",
                                           "-default-stream"};
constexpr std::string_view kNvccPrefixes[] = {"-O",
                                              "-D",
                                              "-U",
                                              "-std=",
                                              "--std=",
                                              "-ftz=",
                                              "--ftz=",
                                              "-fmad=",
                                              "--fmad=",
                                              "-prec-div=",
                                              "--prec-div=",
                                              "-prec-sqrt=",
                                              "--prec-sqrt=",
                                              "-maxrregcount=",
                                              "--maxrregcount=",
                                              "--threads=",
                                              "-gencode=",
                                              "--generate-code=",
                                              "-arch=",
                                              "--gpu-architecture=",
                                              "-code=",
                                              "--gpu-code=",
                                              "-diag-suppress=",
                                              "--diag-suppress=",
                                              "-diag-suppress",
                                              "--default-stream=",
                                              "-default-stream=",
                                              "--define-macro=",
                                              "-split-compile=",
                                              "--split-compile=",
                                              "-std"};
constexpr std::string_view kNvrtcPrefixes[] = {"-D",
                                               "-U",
                                               "-std=",
                                               "--std=",
                                               "--use_fast_math",
                                               "-use_fast_math",
                                               "-ftz=",
                                               "--ftz=",
                                               "-fmad=",
                                               "--fmad=",
                                               "-prec-div=",
                                               "--prec-div=",
                                               "-prec-sqrt=",
                                               "--prec-sqrt=",
                                               "-maxrregcount=",
                                               "--maxrregcount=",
                                               "-lineinfo",
                                               "--generate-line-info",
                                               "--extra-device-vectorization",
                                               "--restrict",
                                               "-restrict",
                                               "-default-device",
                                               "--device-as-default-execution-space",
                                               "-G",
                                               "-w",
                                               "--gpu-architecture=",
                                               "-arch=",
                                               "--define-macro="};
// ptxas options that only change code generation.
constexpr std::string_view kPtxas[] = {"-v",
                                       "-O",
                                       "--verbose",
                                       "-dlcm",
                                       "-dscm",
                                       "--opt-level",
                                       "-opt-level",
                                       "--maxrregcount",
                                       "-maxrregcount",
                                       "--def-load-cache",
                                       "--allow-expensive",
                                       "-allow-expensive",
                                       "--warn-on",
                                       "-warn",
                                       "--fmad",
                                       "-fmad"};

class Checker {
 public:
  Checker(FlagTarget target, const std::vector<fs::path>& dirs) : target_(target), dirs_(dirs) {}

  std::optional<FlagRefusal> Run(const Flags& in) {
    for (const std::string& entry : in) {
      for (const char c : entry) {
        if (std::string_view("`$;|&<>\\\n\r\"'*?#(){}!~").find(c) != std::string_view::npos) {
          return Refuse(entry, fmt::format("the character '{}' has no place in a flag", c));
        }
      }
      size_t i = 0;
      while (i < entry.size()) {
        const size_t begin = entry.find_first_not_of(" \t", i);
        if (begin == std::string::npos) break;
        size_t end = entry.find_first_of(" \t", begin);
        if (end == std::string::npos) end = entry.size();
        words_.push_back(entry.substr(begin, end - begin));
        i = end;
      }
    }
    for (next_ = 0; next_ < words_.size();) {
      const std::string flag = words_[next_++];
      if (auto refusal = One(flag)) return refusal;
    }
    return std::nullopt;
  }

  Flags accepted;

 private:
  static FlagRefusal Refuse(const std::string& flag, std::string_view why) {
    return {flag, fmt::format("flag '{:.200}' is not allowed: {}", flag, why)};
  }

  // The value of a flag given as "-Xptxas v" or "-Xptxas=v"; nullopt when it is missing.
  std::optional<std::string> Value(const std::string& flag, std::string_view name) {
    if (flag.size() > name.size() && flag[name.size()] == '=') return flag.substr(name.size() + 1);
    if (next_ < words_.size()) return words_[next_++];
    return std::nullopt;
  }

  std::optional<FlagRefusal> Directory(const std::string& flag, const std::string& dir) {
    if (!IsBelow(dir, dirs_)) {
      return Refuse(flag, "only folders of the toolchain, CUDA, Python and torch may be searched");
    }
    return std::nullopt;
  }

  std::optional<FlagRefusal> One(const std::string& flag) {
    if (flag[0] != '-')
      return Refuse(flag, "files and response files cannot be added to the command");
    for (const std::string_view option :
         {"-I", "-L", "-isystem", "--include-path", "--library-path"}) {
      const bool exact = flag == option;
      const bool joined = flag.size() > option.size() && flag.starts_with(option) &&
                          (option.size() == 2 || flag[option.size()] == '=');
      if (!exact && !joined) continue;
      std::string dir;
      if (exact) {
        const auto value = Value(flag, option);
        if (!value) return Refuse(flag, "its folder is missing");
        dir = *value;
      } else {
        dir = flag.substr(option.size() + (option.size() == 2 ? 0 : 1));
      }
      if (auto refusal = Directory(flag, dir)) return refusal;
      accepted.push_back(
          fmt::format("{}{}", option == "-L" || option == "--library-path" ? "-L" : "-I", dir));
      return std::nullopt;
    }
    switch (target_) {
      case FlagTarget::kHostCompiler:
        return Host(flag);
      case FlagTarget::kNvcc:
        return Nvcc(flag);
      case FlagTarget::kNvrtc:
        return Nvrtc(flag);
      case FlagTarget::kLinker:
        return Linker(flag);
    }
    return Refuse(flag, "unknown target");
  }

  std::optional<FlagRefusal> Parameter(const std::string& flag) {
    const std::string value = Value(flag, "--param").value_or("");
    const size_t equals = value.find('=');
    const bool is_number = equals != std::string::npos && equals + 1 < value.size() &&
                           std::all_of(value.begin() + static_cast<ptrdiff_t>(equals) + 1,
                                       value.end(), [](unsigned char c) { return isdigit(c); });
    if (!is_number) return Refuse(flag, "its value must be NAME=NUMBER");
    accepted.push_back("--param=" + value);
    return std::nullopt;
  }

  std::optional<FlagRefusal> Host(const std::string& flag) {
    if (flag == "--param" || flag.starts_with("--param=")) return Parameter(flag);
    if (StartsWithAny(flag, kDangerousHost) && !flag.starts_with("-fdiagnostics-color"))
      return Refuse(flag, "it writes files or loads code into the compiler");
    if (flag.starts_with("-W")) {
      if (flag.starts_with("-Wl,")) return Linker(flag);
      if (flag.starts_with("-Wa,") || flag.starts_with("-Wp,")) {
        return Refuse(flag,
                      "options for the assembler and the preprocessor cannot be passed through");
      }
      accepted.push_back(flag);
      return std::nullopt;
    }
    if (flag.starts_with("-l") || flag.starts_with("-static-")) return Linker(flag);
    if (!EqualsAny(flag, kHostNames) && !StartsWithAny(flag, kHostPrefixes)) {
      return Refuse(
          flag, "it is not among the options known to be harmless (-O -f -m -D -U -std -W -I -l)");
    }
    accepted.push_back(flag);
    return std::nullopt;
  }

  std::optional<FlagRefusal> Nvcc(const std::string& flag) {
    for (const std::string_view option : {"-Xcompiler", "--compiler-options"}) {
      if (!flag.starts_with(option)) continue;
      const auto value = Value(flag, option);
      if (!value) return Refuse(flag, "its value is missing");
      size_t begin = 0;
      while (begin <= value->size()) {
        const size_t end = std::min(value->find(',', begin), value->size());
        const std::string part = value->substr(begin, end - begin);
        const size_t before = accepted.size();
        if (part.empty()) return Refuse(flag, "its value is empty");
        if (part[0] != '-') return Refuse(flag, "its value must be flags");
        if (auto refusal = Host(part)) return refusal;
        for (size_t i = before; i < accepted.size(); ++i) accepted[i] = "-Xcompiler=" + accepted[i];
        begin = end + 1;
      }
      return std::nullopt;
    }
    for (const std::string_view option : {"-Xptxas", "--ptxas-options"}) {
      if (!flag.starts_with(option)) continue;
      const auto value = Value(flag, option);
      if (!value) return Refuse(flag, "its value is missing");
      size_t begin = 0;
      while (begin <= value->size()) {
        const size_t end = std::min(value->find(',', begin), value->size());
        if (!StartsWithAny(value->substr(begin, end - begin), kPtxas)) {
          return Refuse(flag, "that ptxas option is not among those known to be harmless");
        }
        begin = end + 1;
      }
      accepted.push_back("-Xptxas=" + *value);
      return std::nullopt;
    }
    for (const std::string_view option :
         {"-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code",
          "-maxrregcount", "--maxrregcount", "-diag-suppress", "--diag-suppress", "-std", "--std",
          "-t", "--threads", "-O", "--optimize", "-default-stream", "--default-stream"}) {
      if (flag != option) continue;
      if (option == "-O" && (next_ >= words_.size() || words_[next_].starts_with('-'))) break;
      const auto value = Value(flag, option);
      if (!value || value->starts_with("-")) return Refuse(flag, "its value is missing");
      accepted.push_back(flag);
      accepted.push_back(*value);
      return std::nullopt;
    }
    if (flag.starts_with("-l")) return Linker(flag);
    if (!EqualsAny(flag, kNvccNames) && !StartsWithAny(flag, kNvccPrefixes)) {
      return Refuse(flag, "it is not among the nvcc options known to be harmless");
    }
    accepted.push_back(flag);
    return std::nullopt;
  }

  std::optional<FlagRefusal> Nvrtc(const std::string& flag) {
    if (!StartsWithAny(flag, kNvrtcPrefixes)) {
      return Refuse(flag, "it is not among the NVRTC options known to be harmless");
    }
    accepted.push_back(flag);
    return std::nullopt;
  }

  std::optional<FlagRefusal> Linker(const std::string& flag) {
    if (flag.starts_with("-l") && flag.size() > 2) {
      for (size_t i = 2; i < flag.size(); ++i) {
        const char c = flag[i];
        const bool ok = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ||
                        c == '+' || c == '.';
        if (!ok) return Refuse(flag, "a library is named without a path");
      }
      accepted.push_back(flag);
      return std::nullopt;
    }
    if (flag.starts_with("-Wl,-rpath,") || flag.starts_with("-Wl,-rpath=")) {
      const std::string dir = flag.substr(std::string_view("-Wl,-rpath,").size());
      if (dir.find(',') != std::string::npos) return Refuse(flag, "one folder at a time");
      if (auto refusal = Directory(flag, dir)) return refusal;
      accepted.push_back(flag);
      return std::nullopt;
    }
    static constexpr std::string_view kNames[] = {"-static-libstdc++",
                                                  "-static-libgcc",
                                                  "-Wl,--as-needed",
                                                  "-Wl,--no-as-needed",
                                                  "-Wl,-O1",
                                                  "-Wl,-O2",
                                                  "-Wl,--gc-sections",
                                                  "-Wl,-s",
                                                  "-s",
                                                  "-fopenmp",
                                                  "-pthread",
                                                  "-shared",
                                                  "-O1",
                                                  "-O2",
                                                  "-O3",
                                                  "-flto"};
    if (!EqualsAny(flag, kNames))
      return Refuse(flag, "the linker takes libraries (-lNAME) and little else");
    accepted.push_back(flag);
    return std::nullopt;
  }

  const FlagTarget target_;
  const std::vector<fs::path>& dirs_;
  Flags words_;
  size_t next_ = 0;
};

}  // namespace

std::variant<Flags, FlagRefusal> CheckFlags(FlagTarget target, const Flags& flags,
                                            const std::vector<fs::path>& allowed_dirs) {
  Checker checker(target, allowed_dirs);
  if (auto refusal = checker.Run(flags)) return *refusal;
  return std::move(checker.accepted);
}

bool DependsOnHostCpu(const Flags& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& f) {
    return f.find("-march=native") != std::string::npos ||
           f.find("-mtune=native") != std::string::npos ||
           f.find("-mcpu=native") != std::string::npos;
  });
}

}  // namespace davinci::build
