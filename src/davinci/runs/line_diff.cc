#include "davinci/runs/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace davinci::runs {
namespace {

constexpr size_t kMaxLines = 4000;

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    lines.push_back(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return lines;
}

struct Edit {
  char sign;  // ' ', '-', '+'
  std::string_view line;
  size_t before;  // line numbers from 0 at which it stands
  size_t after;
};

// Longest common subsequence by dynamic programming: kernels have hundreds of lines, not more.
std::vector<Edit> Edits(const std::vector<std::string_view>& a,
                        const std::vector<std::string_view>& b) {
  const size_t n = a.size();
  const size_t m = b.size();
  std::vector<uint16_t> length((n + 1) * (m + 1), 0);
  auto at = [&](size_t i, size_t j) -> uint16_t& { return length[i * (m + 1) + j]; };
  for (size_t i = n; i-- > 0;)
    for (size_t j = m; j-- > 0;)
      at(i, j) = a[i] == b[j] ? static_cast<uint16_t>(at(i + 1, j + 1) + 1)
                              : std::max(at(i + 1, j), at(i, j + 1));
  std::vector<Edit> edits;
  size_t i = 0;
  size_t j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && a[i] == b[j]) {
      edits.push_back({' ', a[i], i, j});
      ++i, ++j;
    } else if (i < n && (j == m || at(i + 1, j) >= at(i, j + 1))) {
      edits.push_back({'-', a[i], i, j});
      ++i;
    } else {
      edits.push_back({'+', b[j], i, j});
      ++j;
    }
  }
  return edits;
}

}  // namespace

std::string LineDiff(std::string_view before, std::string_view after, int context,
                     size_t max_lines) {
  const auto a = LinesOf(before);
  const auto b = LinesOf(after);
  if (a == b) return "";
  if (a.size() > kMaxLines || b.size() > kMaxLines)
    return fmt::format("@@ all {} lines replaced by {} @@\n", a.size(), b.size());
  const std::vector<Edit> edits = Edits(a, b);
  std::vector<bool> shown(edits.size(), false);
  const auto reach = static_cast<size_t>(std::max(context, 0));
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].sign == ' ') continue;
    const size_t from = i < reach ? 0 : i - reach;
    const size_t to = std::min(edits.size(), i + reach + 1);
    std::fill(shown.begin() + static_cast<ptrdiff_t>(from),
              shown.begin() + static_cast<ptrdiff_t>(to), true);
  }
  std::string text;
  size_t lines = 0;
  size_t missing = 0;
  for (size_t i = 0; i < edits.size(); ++i) {
    if (!shown[i]) continue;
    if (lines >= max_lines) {
      ++missing;
      continue;
    }
    if (i == 0 || !shown[i - 1])
      text += fmt::format("@@ line {} -> {} @@\n", edits[i].before + 1, edits[i].after + 1);
    text += fmt::format("{}{}\n", edits[i].sign, edits[i].line);
    ++lines;
  }
  if (missing > 0) text += fmt::format("… {} more lines\n", missing);
  return text;
}

}  // namespace davinci::runs
