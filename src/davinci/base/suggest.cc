#include "davinci/base/suggest.h"

#include <algorithm>
#include <vector>

namespace davinci {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the usual table ("optimal string alignment").
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
          Lower(a[i - 2]) == Lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> NearestName(std::string_view name, std::span<const std::string> known) {
  // Names come from users; a megabyte of nonsense has no neighbour and must not cost a quadratic
  // table.
  if (name.size() > 256) return std::nullopt;
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(name, candidate);
    if (distance > std::max(name.size(), candidate.size()) / 3) continue;
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string DidYouMean(std::string_view name, std::span<const std::string> known) {
  std::optional<std::string> nearest = NearestName(name, known);
  return nearest ? " (did you mean \"" + *nearest + "\"?)" : "";
}

}  // namespace davinci
