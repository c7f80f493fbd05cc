#include "davinci/model/attention_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace davinci::model {
namespace {

using Rows = std::vector<int64_t>;

TEST(AttentionGroups, EqualSequencesAreOneBatchAsTheyLie) {
  const Rows borders = {0, 300, 600, 900};
  const auto groups = GroupSequences(borders);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].length, 300);
  EXPECT_EQ(groups[0].count, 3);
  EXPECT_FALSE(groups[0].padded());
  Rows all(900);
  std::iota(all.begin(), all.end(), int64_t{0});
  EXPECT_EQ(groups[0].rows, all);
  EXPECT_EQ(groups[0].places, all);
}

TEST(AttentionGroups, OtherwiseLengthsAreRoundedUpAndEveryRowHasOnePlace) {
  const Rows lengths = {37, 2048, 512, 100, 1025, 513, 2047};
  Rows borders = {0};
  for (const int64_t length : lengths) borders.push_back(borders.back() + length);
  std::set<int64_t> seen;
  for (const AttentionGroup& group : GroupSequences(borders)) {
    EXPECT_TRUE(group.padded() || group.length == 512);
    ASSERT_EQ(group.rows.size(), group.places.size());
    std::set<int64_t> places;
    for (size_t i = 0; i < group.rows.size(); ++i) {
      EXPECT_TRUE(seen.insert(group.rows[i]).second);
      EXPECT_TRUE(places.insert(group.places[i]).second);
      EXPECT_LT(group.places[i], group.count * group.length);
      // Rows that follow each other in a sequence do so in the batch; a sequence begins a place.
      const bool begins = std::find(borders.begin(), borders.end(), group.rows[i]) != borders.end();
      if (begins)
        EXPECT_EQ(group.places[i] % group.length, 0);
      else
        EXPECT_EQ(group.places[i], group.places[i - 1] + 1);
    }
    EXPECT_EQ(group.length % 128, 0);
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), borders.back());
  // 37 and 100 share 128; 2047 and 2048 share 2048.
  EXPECT_EQ(GroupSequences(borders).size(), 5u);
}

}  // namespace
}  // namespace davinci::model
