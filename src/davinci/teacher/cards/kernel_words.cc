#include "davinci/teacher/cards/kernel_words.h"

#include <algorithm>
#include <cctype>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using Words = std::vector<std::string>;

// Names of two letters and more: those of one letter are tensors and sizes.
const std::vector<std::pair<std::string, Words>>& Choices() {
  static const std::vector<std::pair<std::string, Words>> choices = {
      {"i", {"at", "idx", "pos", "elem", "place"}},
      {"inside", {"ok", "valid", "within", "keep", "live"}},
      {"row", {"line", "outer", "record", "sample"}},
      {"col", {"lane", "inner", "field", "step"}},
      {"in_row", {"row_ok", "has_row", "line_ok"}},
      {"in_col", {"col_ok", "has_col", "lane_ok"}},
      {"total", {"acc", "summed", "result"}},
      {"start", {"begin", "offset", "base"}},
  };
  return choices;
}

// f1 -> k1.
std::string WithPrefix(const std::string& text, const std::string& prefix) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && synth::IsWordChar(text[end])) ++end;
    if (end == i) {
      result += text[i++];
      continue;
    }
    const std::string word = text.substr(i, end - i);
    const bool kernel = word.size() > 1 && word[0] == 'f' && (i == 0 || text[i - 1] != '.') &&
                        word.find_first_not_of("0123456789", 1) == std::string::npos;
    result += kernel ? prefix + word.substr(1) : word;
    i = end;
  }
  return result;
}

}  // namespace

KernelWords DrawKernelWords(SplitMix64* rng) {
  static const Words kernels = {"f", "k", "kern", "run", "op", "fused"};
  KernelWords words;
  words.kernel = kernels[rng->Below(kernels.size())];
  for (const auto& [name, others] : Choices())
    if (rng->Uniform() < 0.6) words.instead.emplace_back(name, others[rng->Below(others.size())]);
  return words;
}

std::string WithKernelWords(const std::string& reply, const KernelWords& words) {
  const size_t end = std::min(reply.rfind("\n\nclass "), reply.size());
  const std::string kernels = reply.substr(0, end);
  std::string renamed;
  for (const std::string_view line : synth::Split(kernels, '\n')) {
    std::string text(line);
    // Lines that are not indented launch kernels.
    if (line.starts_with(' ') || line.starts_with("def "))
      for (const auto& [name, other] : words.instead)
        if (!synth::HasWord(kernels, other)) text = synth::WithWord(std::move(text), name, other);
    renamed += text + '\n';
  }
  renamed.pop_back();
  return WithPrefix(renamed + reply.substr(end), words.kernel);
}

}  // namespace davinci::teacher
