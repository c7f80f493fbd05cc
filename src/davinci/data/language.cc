#include "davinci/data/language.h"

#include <array>
#include <utility>

namespace davinci {
namespace {

constexpr std::array<std::pair<Language, std::string_view>, 6> kLanguages = {{
    {Language::kAuto, "auto"},
    {Language::kTriton, "triton"},
    {Language::kCuda, "cuda"},
    {Language::kCudaInline, "cuda-inline"},
    {Language::kCpp, "cpp"},
    {Language::kPython, "python"},
}};

bool Contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

}  // namespace

std::string_view TargetName(Target target) { return target == Target::kCpu ? "cpu" : "cuda"; }

std::string_view LanguageName(Language language) {
  for (const auto& [value, name] : kLanguages)
    if (value == language) return name;
  return "unknown";
}

std::optional<Target> ParseTarget(std::string_view name) {
  if (name == "cpu") return Target::kCpu;
  if (name == "cuda") return Target::kCuda;
  return std::nullopt;
}

std::optional<Language> ParseLanguage(std::string_view name) {
  for (const auto& [value, known] : kLanguages)
    if (known == name) return value;
  return std::nullopt;
}

Language DetectLanguage(std::string_view source) {
  if (Contains(source, "cuda_module(")) return Language::kCuda;
  if (Contains(source, "cpp_module(")) return Language::kCpp;
  if (Contains(source, "load_inline") || Contains(source, "cpp_extension")) {
    const bool cuda = Contains(source, "cuda_sources") || Contains(source, "__global__");
    return cuda ? Language::kCudaInline : Language::kCpp;
  }
  if (Contains(source, "triton.jit")) return Language::kTriton;
  return Language::kPython;
}

}  // namespace davinci
