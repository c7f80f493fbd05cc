#include "davinci/teacher/demos/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "davinci/base/hash.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using Text = std::optional<std::string>;

enum class Where { kKernels, kHost, kAll };
enum class In { kTriton, kC, kAny };

// A mistake of one line: what it is in the line, and what it becomes; "": the line is left out.
struct LineMistake {
  const char* mutation;
  In in;
  Where where;
  const char* from;
  const char* to;
};

constexpr LineMistake kLineMistakes[] = {
    {"off_by_one", In::kTriton, Where::kKernels, R"(< ([A-Za-z_]\w*)($|\)))", "< $1 - 1$2"},
    {"off_by_one", In::kC, Where::kKernels, R"(; (\w+) < (\w+); \+\+)", "; $1 < $2 - 1; ++"},
    {"missing_mask", In::kTriton, Where::kKernels, R"(, mask=\w+(, other=0\.0)?)", ""},
    {"missing_mask", In::kTriton, Where::kKernels, R"(\bld\(([^(),]+), \w+\))", "tl.load($1)"},
    {"wrong_axis", In::kTriton, Where::kKernels, R"(axis=1\)\[:, None\])", "axis=0)[None, :]"},
    {"wrong_axis", In::kAny, Where::kKernels, R"(\brow \* (\w+) \+ col\b)", "col * $1 + row"},
    {"wrong_axis", In::kC, Where::kKernels, R"(\bi0 \* (\w+) \+ i1\b)", "i1 * $1 + i0"},
    {"wrong_stride", In::kAny, Where::kKernels, R"(\b(row|i0|i1|i2) \* \w+ \+)", "$1 +"},
    {"wrong_constant", In::kAny, Where::kKernels, R"(\b([1-9])\.(\d+))", "1$1.$2"},
    {"wrong_constant", In::kAny, Where::kKernels, R"(\b0\.(\d*[1-9]))", "0.0$1"},
    {"wrong_operator", In::kAny, Where::kKernels, R"(\b(v\d+) \+ )", "$1 - "},
    {"wrong_operator", In::kTriton, Where::kKernels, R"(\btl\.maximum\()", "tl.minimum("},
    {"missing_eps", In::kAny, Where::kKernels, R"( \+ 1e-\d+f?)", ""},
    {"undefined_name", In::kTriton, Where::kKernels, R"(^ +v\d+ = .*$)", nullptr},
    {"undefined_name", In::kC, Where::kKernels, R"(^ +const \w+ v\d+ = .*;$)", nullptr},
    {"undefined_local", In::kAny, Where::kHost, R"(^ {8}[A-Za-z]\w*(, \w+)* = .*[^(]$)", nullptr},
    {"wrong_attribute", In::kAny, Where::kHost, R"(\bself\.(\w+)\.(weight|bias)\b)", "self.$2"},
    {"wrong_attribute", In::kAny, Where::kHost, R"(\.weight\b)", ".weights"},
    {"wrong_attribute", In::kAny, Where::kHost, R"(\bself\.(\w+)\b(?![.(\w]))", "self.weights"},
    {"wrong_attribute", In::kAny, Where::kHost, R"(\bself\.(\w+)\()", "self.$1_layer("},
    {"syntax", In::kTriton, Where::kAll, R"(\)$)", ""},
    {"syntax", In::kC, Where::kKernels, R"(;$)", ""},
    {"missing_argument", In::kTriton, Where::kHost,
     R"((\b\w+\[.*\]\(.*), [\w.]+((, num_\w+=\d+)*\))$)", "$1$2"},
    {"missing_argument", In::kTriton, Where::kHost, R"((^ +f\d+\(.*), [\w.]+(\))$)", "$1$2"},
    {"missing_argument", In::kC, Where::kHost, R"((^ +\w+\(\w+, .*), [^,()]+(\))$)", "$1$2"},
    {"extra_argument", In::kTriton, Where::kHost,
     R"(((\b\w+\[.*\]|^ +f\d+)\(.*), ([\w.]+)((, num_\w+=\d+)*\))$)", "$1, $3, $3$4"},
    {"missing_constant", In::kTriton, Where::kHost, R"((\]\(.*), [A-Z]\w*=[\w.]+)", "$1"},
    {"swapped", In::kTriton, Where::kHost, R"((\]\(|^ +f\d+\()([\w.]+), ([\w.]+),)", "$1$3, $2,"},
    {"swapped", In::kC, Where::kHost, R"((^ +\w+\()(\w+), (\w+),)", "$1$3, $2,"},
    {"wrong_shape", In::kAny, Where::kHost, R"((empty|zeros)\(\(([^()]+), [^(),]+\))", "$1(($2,)"},
    {"wrong_shape", In::kAny, Where::kHost, R"(\.(view|reshape|unsqueeze|squeeze)\([^()]*\))", ""},
    {"lost_dimension", In::kTriton, Where::kKernels, R"(\[:, None\])", ""},
    {"lost_dimension", In::kAny, Where::kHost, R"(keepdim=True)", "keepdim=False"},
    {"missing_factor", In::kAny, Where::kKernels, R"( = (.*) \* [\w.]+(;?)$)", " = $1$2"},
    {"wrong_divisor", In::kAny, Where::kKernels, R"( / ([A-Za-z]\w*)\b)", " / ($1 - 1)"},
    {"wrong_divisor", In::kAny, Where::kKernels, R"( / (\d+)\.0)", " / $1$1.0"},
    {"wrong_dtype", In::kAny, Where::kHost, R"(dtype=torch\.float32)", "dtype=torch.float16"},
    {"wrong_dtype", In::kAny, Where::kHost, R"((empty\(\([^()]*\))\))", "$1, dtype=torch.float64)"},
    {"wrong_dtype", In::kAny, Where::kHost, R"((empty_like\(\w+)\))", "$1, dtype=torch.float64)"},
};

bool IsIn(In in, Language language) {
  return in == In::kAny || (in == In::kTriton) == (language == Language::kTriton);
}

// Positions where kernels begin, and where the class or function that launches them begins.
struct Parts {
  size_t kernels = std::string::npos, host = std::string::npos;
};

Parts PartsOf(const std::string& source, Language language) {
  Parts parts;
  if (language != Language::kTriton) {
    parts.kernels = source.find("extern \"C\"");
  } else {
    parts.kernels = std::min(source.find("@triton.jit\ndef "), source.find("@kernel\ndef "));
  }
  if (parts.kernels != std::string::npos) parts.host = source.rfind("\nclass ");
  if (parts.host == std::string::npos || parts.host < parts.kernels) parts.host = source.size();
  return parts;
}

// The mistake stands in one of the lines that have a place for it.
Text WithLineMistake(const std::string& source, Language language, const std::string& mutation,
                     const Parts& parts, uint64_t seed) {
  struct Place {
    size_t begin = 0, end = 0;  // of the line
    std::string changed;
    bool left_out = false;
  };
  std::vector<Place> places;
  for (const LineMistake& mistake : kLineMistakes) {
    if (mistake.mutation != mutation || !IsIn(mistake.in, language)) continue;
    const std::regex from(mistake.from);
    const size_t last = mistake.where == Where::kKernels ? parts.host : source.size();
    for (size_t begin = mistake.where == Where::kHost ? parts.host : parts.kernels; begin < last;) {
      const size_t end = std::min(source.find('\n', begin), source.size());
      const std::string line = source.substr(begin, end - begin);
      std::smatch found;
      if (!line.starts_with('#') && !line.ends_with("\"\"\"") &&
          std::regex_search(line, found, from)) {
        const bool left_out = mistake.to == nullptr;
        std::string changed = left_out
                                  ? ""
                                  : std::regex_replace(line, from, mistake.to,
                                                       std::regex_constants::format_first_only);
        if (changed != line) places.push_back({begin, end, std::move(changed), left_out});
      }
      begin = end + 1;
    }
  }
  if (places.empty()) return std::nullopt;
  const Place& place = places[HashBytes(mutation, seed) % places.size()];
  std::string text = source;
  return text.replace(place.begin, place.end - place.begin + (place.left_out ? 1 : 0),
                      place.changed);
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

}  // namespace

const std::vector<std::string>& Mutations() {
  static const std::vector<std::string> mutations = [] {
    std::vector<std::string> names;
    for (const LineMistake& mistake : kLineMistakes)
      if (names.empty() || names.back() != mistake.mutation) names.emplace_back(mistake.mutation);
    names.insert(names.end(), {"low_sum", "slow"});
    return names;
  }();
  return mutations;
}

std::optional<std::string> Mutated(const std::string& source, Language language,
                                   const std::string& mutation, uint64_t seed) {
  const Parts parts = PartsOf(source, language);
  if (parts.kernels == std::string::npos) return std::nullopt;
  if (mutation == "low_sum" || mutation == "slow") {
    if (language == Language::kCuda) return std::nullopt;
    const bool cpp = language == Language::kCpp;
    if (mutation == "low_sum") return cpp ? SumInHalf(source) : TritonSumInHalf(source);
    if (cpp) return WithoutOpenMp(source);
    std::string text = source;
    const size_t block = text.find("BLOCK=1024)");
    return block == std::string::npos ? Text() : Text(text.replace(block, 11, "BLOCK=32)"));
  }
  return WithLineMistake(source, language, mutation, parts, seed);
}

}  // namespace davinci::teacher
