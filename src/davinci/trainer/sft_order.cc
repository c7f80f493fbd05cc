#include "davinci/trainer/sft_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "davinci/base/rng.h"
#include "davinci/trainer/epoch.h"

namespace davinci::trainer {
namespace {

size_t SectionSize(const DataSection& section) {
  return static_cast<size_t>(
      std::llround(static_cast<double>(section.end - section.begin) * section.weight));
}

// By the rule of the header. `order` is shuffled.
void ApplyCurriculum(std::span<const int64_t> lengths, double curriculum,
                     std::vector<size_t>* order) {
  const size_t count = order->size();
  std::vector<size_t> by_length(count);  // positions in *order
  std::iota(by_length.begin(), by_length.end(), size_t{0});
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](size_t a, size_t b) { return lengths[(*order)[a]] < lengths[(*order)[b]]; });
  std::vector<double> due(count);
  const auto n = static_cast<double>(count);
  for (size_t rank = 0; rank < count; ++rank) {
    const size_t at = by_length[rank];
    const double percentile = static_cast<double>(rank) / n;
    const double begins = curriculum * percentile * percentile;
    due[at] = begins + (1 - begins) * (static_cast<double>(at) / n);
  }
  std::vector<size_t> positions(count);
  std::iota(positions.begin(), positions.end(), size_t{0});
  std::stable_sort(positions.begin(), positions.end(),
                   [&](size_t a, size_t b) { return due[a] < due[b]; });
  std::vector<size_t> sorted;
  sorted.reserve(count);
  for (const size_t at : positions) sorted.push_back((*order)[at]);
  *order = std::move(sorted);
}

}  // namespace

size_t EpochSize(std::span<const DataSection> sections) {
  size_t size = 0;
  for (const DataSection& section : sections) size += SectionSize(section);
  return size;
}

std::vector<size_t> SftOrder(int64_t seed, int64_t epoch, std::span<const DataSection> sections,
                             std::span<const int64_t> lengths, double curriculum) {
  std::vector<size_t> seen;  // by section
  seen.reserve(EpochSize(sections));
  for (size_t s = 0; s < sections.size(); ++s) {
    const DataSection& section = sections[s];
    const size_t count = section.end - section.begin;
    size_t left = SectionSize(section);
    for (; left >= count && left > 0; left -= count)
      for (size_t i = section.begin; i < section.end; ++i) seen.push_back(i);
    if (left == 0) continue;
    // Each epoch continues in one permutation where the last one ended.
    const std::vector<size_t> part = EpochOrder(seed, -1 - static_cast<int64_t>(s), count);
    const size_t from = static_cast<size_t>(epoch) % count * (left % count) % count;
    for (size_t i = 0; i < left; ++i) seen.push_back(section.begin + part[(from + i) % count]);
  }
  std::vector<size_t> order = EpochOrder(seed, epoch, seen.size());
  for (size_t& at : order) at = seen[at];
  if (epoch == 0 && curriculum > 0 && !lengths.empty())
    ApplyCurriculum(lengths, curriculum, &order);
  return order;
}

}  // namespace davinci::trainer
