#include "davinci/model/attention_groups.h"

#include <algorithm>
#include <bit>
#include <map>

namespace davinci::model {
namespace {

constexpr int64_t kSmallestStep = 128;

int64_t RoundUp(int64_t length) {
  const auto octave = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(length)));
  const int64_t step = std::max(kSmallestStep, octave / 4);
  return (length + step - 1) / step * step;
}

}  // namespace

std::vector<AttentionGroup> GroupSequences(std::span<const int64_t> borders) {
  std::vector<AttentionGroup> groups;
  if (borders.size() < 2) return groups;
  const auto length_of = [&](size_t i) { return borders[i + 1] - borders[i]; };
  const size_t sequences = borders.size() - 1;
  bool equal = true;
  for (size_t i = 1; i < sequences; ++i) equal = equal && length_of(i) == length_of(0);
  std::map<int64_t, size_t> by_length;
  for (size_t i = 0; i < sequences; ++i) {
    if (length_of(i) == 0) continue;
    const int64_t length = equal ? length_of(i) : RoundUp(length_of(i));
    const auto [found, made] = by_length.emplace(length, groups.size());
    if (made) groups.push_back({length, 0, {}, {}});
    AttentionGroup& group = groups[found->second];
    for (int64_t row = 0; row < length_of(i); ++row) {
      group.rows.push_back(borders[i] + row);
      group.places.push_back(group.count * length + row);
    }
    ++group.count;
  }
  return groups;
}

}  // namespace davinci::model
