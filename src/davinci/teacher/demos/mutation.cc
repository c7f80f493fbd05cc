#include "davinci/teacher/demos/mutation.h"

#include <fmt/format.h>

#include <cctype>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using Text = std::optional<std::string>;

// The first `from` that stands behind `after`.
Text ReplacedOnce(std::string source, std::string_view from, std::string_view to,
                  std::string_view after = "") {
  const size_t begin = source.find(after);
  const size_t at = begin == std::string::npos ? begin : source.find(from, begin);
  if (at == std::string::npos) return std::nullopt;
  return source.replace(at, from.size(), to);
}

// Kernels begin here; what stands before is the same in every candidate.
std::string_view KernelsOf(Language language) {
  return language == Language::kTriton ? "@triton.jit\ndef " : "extern \"C\"";
}

// for (int64_t col = 0; col < cols; ++col): the last such loop, which is over elements.
Text StopEarly(std::string source) {
  const size_t loop = source.rfind("; ++");
  if (loop == std::string::npos || !synth::IsWordChar(source[loop - 1])) return std::nullopt;
  return source.insert(loop, " - 1");
}

Text WithoutMask(std::string source) {
  const size_t begin = source.find(", mask=");
  if (begin == std::string::npos) return std::nullopt;
  size_t end = begin + 7;
  while (end < source.size() && synth::IsWordChar(source[end])) ++end;
  const std::string_view other = ", other=0.0";
  if (source.compare(end, other.size(), other) == 0) end += other.size();
  return source.erase(begin, end - begin);
}

// " + 1e-05f": a number below 1e-3 in scientific notation.
Text WithoutEpsilon(std::string source, std::string_view kernels) {
  for (size_t at = source.find(kernels); at != std::string::npos; ++at) {
    at = source.find(" + 1e-", at);
    if (at == std::string::npos) return std::nullopt;
    size_t end = at + 6;
    while (end < source.size() && std::isdigit(static_cast<unsigned char>(source[end]))) ++end;
    if (end < source.size() && source[end] == 'f') ++end;
    return source.erase(at, end - at);
  }
  return std::nullopt;
}

// acc1 += what; -> acc1 = static_cast<_Float16>(acc1 + what);
Text SumInHalf(std::string source) {
  const size_t at = source.find(" += ", source.find("extern \"C\""));
  if (at == std::string::npos) return std::nullopt;
  size_t begin = at;
  while (begin > 0 && source[begin - 1] != ' ' && source[begin - 1] != '\n') --begin;
  const size_t end = source.find(';', at);
  const std::string sum = source.substr(begin, at - begin);
  const std::string what = source.substr(at + 4, end - at - 4);
  if (!sum.starts_with("acc") && !sum.starts_with("part")) return std::nullopt;
  return source.replace(begin, end - begin,
                        fmt::format("{0} = static_cast<_Float16>({0} + {1})", sum, what));
}

// tl.sum(what, axis=1)
Text TritonSumInHalf(std::string source) {
  const size_t at = source.find("tl.sum(");
  const size_t end = source.find(", axis=1)", at);
  if (at == std::string::npos || end == std::string::npos) return std::nullopt;
  const std::string what = source.substr(at + 7, end - at - 7);
  return source.replace(at, end - at, fmt::format("tl.sum(({}).to(tl.float16)", what));
}

Text WithoutOpenMp(std::string source) {
  bool any = false;
  for (size_t at = 0; (at = source.find("#pragma omp", at)) != std::string::npos;) {
    const size_t line = source.rfind('\n', at);
    source.erase(line, source.find('\n', at) - line);
    at = line;
    any = true;
  }
  return any ? Text(source) : std::nullopt;
}

Text WrongAxis(const std::string& source) {
  for (const auto& [from, to] :
       {std::pair("[row * cols + col]", "[col * rows + row]"),
        std::pair("[i0 * n1 + i1]", "[i1 * n0 + i0]"),
        std::pair("i0 * n1 * n2 + i1 * n2 + i2", "i1 * n0 * n2 + i0 * n2 + i2")})
    if (auto changed = ReplacedOnce(source, from, to, KernelsOf(Language::kCpp))) return changed;
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& Mutations() {
  static const std::vector<std::string> mutations = {"off_by_one",  "missing_mask", "wrong_axis",
                                                     "missing_eps", "low_sum",      "slow"};
  return mutations;
}

std::optional<std::string> Mutated(const std::string& source, Language language,
                                   const std::string& mutation) {
  const bool cpp = language != Language::kTriton;  // or CUDA C++
  if (language == Language::kCuda && (mutation == "low_sum" || mutation == "slow"))
    return std::nullopt;
  if (source.find(KernelsOf(language)) == std::string::npos) return std::nullopt;
  if (mutation == "off_by_one") {
    if (cpp) return StopEarly(source);
    auto changed = ReplacedOnce(source, "in_col = col < cols\n", "in_col = col < cols - 1\n");
    return changed ? changed : ReplacedOnce(source, "inside = i < n\n", "inside = i < n - 1\n");
  }
  if (mutation == "missing_mask") return cpp ? std::nullopt : WithoutMask(source);
  if (mutation == "wrong_axis")
    return cpp ? WrongAxis(source) : ReplacedOnce(source, "axis=1)[:, None]", "axis=0)[None, :]");
  if (mutation == "missing_eps") return WithoutEpsilon(source, KernelsOf(language));
  if (mutation == "low_sum") return cpp ? SumInHalf(source) : TritonSumInHalf(source);
  if (mutation == "slow")
    return cpp ? WithoutOpenMp(source) : ReplacedOnce(source, "BLOCK=1024)", "BLOCK=32)");
  return std::nullopt;
}

}  // namespace davinci::teacher
