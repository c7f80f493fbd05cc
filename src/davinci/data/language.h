// Where a candidate runs and what it is written in.
#pragma once

#include <optional>
#include <string_view>

namespace davinci {

enum class Target { kCpu, kCuda };

// Candidate languages (docs/judge-internals.md).
enum class Language {
  kAuto,        // decided from the source
  kTriton,      // Python module with @triton.jit kernels
  kCuda,        // CUDA C++ through davinci_runtime (NVRTC), no torch headers
  kCudaInline,  // torch.utils.cpp_extension.load_inline with cuda_sources
  kCpp,         // load_inline with cpp_sources, or davinci_runtime's plain C ABI
  kPython,      // no kernel of its own: PyTorch calls only
};

std::string_view TargetName(Target target);
std::string_view LanguageName(Language language);
std::optional<Target> ParseTarget(std::string_view name);
std::optional<Language> ParseLanguage(std::string_view name);

// What `source` is written in, judged by the calls it makes. Only provenance and prompts depend on
// it, never a verdict.
Language DetectLanguage(std::string_view source);

}  // namespace davinci
