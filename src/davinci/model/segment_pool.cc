#include "davinci/model/segment_pool.h"

#include <algorithm>

namespace davinci::model {

SegmentPool::SegmentPool(int64_t size) : size_(size) {}

std::optional<int64_t> SegmentPool::FindRoom(int64_t size) const {
  int64_t start = 0;
  for (const auto& [at, segment] : segments_) {
    if (at - start >= size) return start;
    start = at + segment->size;
  }
  if (size_ - start >= size) return start;
  return std::nullopt;
}

SegmentPool::Segment* SegmentPool::Allocate(int64_t size, const Segment* keep) {
  if (size > size_ || size <= 0) return nullptr;
  std::optional<int64_t> start = FindRoom(size);
  while (!start) {
    Segment* oldest = nullptr;
    for (const auto& [at, segment] : segments_)
      if (!segment->in_use && segment.get() != keep &&
          (oldest == nullptr || segment->last_use < oldest->last_use))
        oldest = segment.get();
    if (oldest == nullptr) return nullptr;
    Drop(oldest);
    start = FindRoom(size);
  }
  auto segment = std::make_unique<Segment>();
  segment->start = *start;
  segment->size = size;
  segment->last_use = ++clock_;
  return (segments_[*start] = std::move(segment)).get();
}

void SegmentPool::Release(Segment* segment) {
  segment->in_use = false;
  segment->last_use = ++clock_;
  if (segment->num_shareable == 0) Drop(segment);
}

void SegmentPool::Drop(Segment* segment) { segments_.erase(segment->start); }

void SegmentPool::Clear() { segments_.clear(); }

SegmentPool::Match SegmentPool::LongestPrefix(std::span<const TokenId> tokens, int64_t limit) {
  Match best;
  for (const auto& [at, segment] : segments_) {
    const int64_t most =
        std::min({segment->num_shareable, limit, static_cast<int64_t>(tokens.size())});
    if (most <= best.length) continue;
    const auto end = segment->tokens.begin() + most;
    const int64_t length =
        std::mismatch(segment->tokens.begin(), end, tokens.begin()).first - segment->tokens.begin();
    if (length > best.length) best = {segment.get(), length};
  }
  if (best.segment != nullptr) best.segment->last_use = ++clock_;
  return best;
}

int64_t SegmentPool::num_in_use() const {
  int64_t sum = 0;
  for (const auto& [at, segment] : segments_)
    if (segment->in_use) sum += segment->size;
  return sum;
}

}  // namespace davinci::model
