#include "davinci/model/segment_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "davinci/base/rng.h"

namespace davinci::model {
namespace {

SegmentPool::Segment* Fill(SegmentPool* pool, std::vector<TokenId> tokens, int64_t size) {
  SegmentPool::Segment* segment = pool->Allocate(size);
  if (segment == nullptr) return nullptr;
  segment->num_shareable = static_cast<int64_t>(tokens.size());
  segment->tokens = std::move(tokens);
  return segment;
}

TEST(SegmentPool, FindsTheLongestCommonPrefixUpToTheLimit) {
  SegmentPool pool(100);
  Fill(&pool, {1, 2, 3}, 10);
  SegmentPool::Segment* longer = Fill(&pool, {1, 2, 3, 4, 5}, 10);
  const std::vector<TokenId> prompt{1, 2, 3, 4, 9};
  EXPECT_EQ(pool.LongestPrefix(prompt, 100).segment, longer);
  EXPECT_EQ(pool.LongestPrefix(prompt, 100).length, 4);
  EXPECT_EQ(pool.LongestPrefix(prompt, 2).length, 2);
  EXPECT_EQ(pool.LongestPrefix(std::vector<TokenId>{7}, 100).segment, nullptr);
  longer->num_shareable = 2;
  EXPECT_EQ(pool.LongestPrefix(prompt, 100).length, 3);  // the other one's
}

TEST(SegmentPool, LeftoversMakeRoomOldestFirstAndThoseInUseNever) {
  SegmentPool pool(30);
  SegmentPool::Segment* a = Fill(&pool, {1, 1}, 10);
  SegmentPool::Segment* b = Fill(&pool, {2, 2}, 10);
  Fill(&pool, {3, 3}, 10);
  EXPECT_EQ(pool.Allocate(5), nullptr);
  pool.Release(a);
  pool.Release(b);
  pool.LongestPrefix(std::vector<TokenId>{1, 1}, 9);  // a is used once more
  ASSERT_NE(pool.Allocate(5), nullptr);
  EXPECT_EQ(pool.LongestPrefix(std::vector<TokenId>{2, 2}, 9).segment, nullptr);
  EXPECT_EQ(pool.LongestPrefix(std::vector<TokenId>{1, 1}, 9).length, 2);
  EXPECT_EQ(pool.Allocate(31), nullptr);
}

TEST(SegmentPool, StretchesNeverOverlap) {
  SegmentPool pool(1000);
  SplitMix64 rng(1);
  std::vector<SegmentPool::Segment*> held;
  for (int i = 0; i < 5000; ++i) {
    if (rng.Below(2) == 0 || held.empty()) {
      auto* segment =
          Fill(&pool, {static_cast<TokenId>(i)}, 1 + static_cast<int64_t>(rng.Below(200)));
      if (segment != nullptr) held.push_back(segment);
    } else {
      const size_t at = rng.Below(held.size());
      pool.Release(held[at]);
      held.erase(held.begin() + static_cast<int64_t>(at));
    }
    int64_t sum = 0;
    for (const auto* x : held) {
      sum += x->size;
      ASSERT_LE(x->start + x->size, 1000);
      for (const auto* y : held) {
        ASSERT_TRUE(x == y || x->start + x->size <= y->start || y->start + y->size <= x->start);
      }
    }
    ASSERT_EQ(pool.num_in_use(), sum);
  }
}

}  // namespace
}  // namespace davinci::model
