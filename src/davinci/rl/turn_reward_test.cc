#include "davinci/rl/turn_reward.h"

#include <gtest/gtest.h>

namespace davinci::rl {
namespace {

// Speedup 8 at cap 6 and coverage 0.4: 0.5 + 3 + 0.2.
TEST(TurnReward, FollowsThePublishedFormulas) {
  EXPECT_NEAR(RewardOf(true, 8, 0.4, {RewardKind::kDavinci, 6, 0.5}).value, 3.7, 1e-12);
  EXPECT_NEAR(RewardOf(true, 8, 0.4, {RewardKind::kDavinci, 6, 0.5}).coverage, 0.2, 1e-12);
  EXPECT_NEAR(RewardOf(true, 8, 0.4, {RewardKind::kDrKernelPaper, 3, 0}).value, 4.4, 1e-12);
  EXPECT_NEAR(RewardOf(true, 2, 0.4, {RewardKind::kKevin, 3, 0}).value, 2.3, 1e-12);
}

// A profile that claims more than everything gains no more than one that claims everything.
TEST(TurnReward, AForgedProfileIsBounded) {
  const RewardOptions options;
  EXPECT_EQ(RewardOf(true, 1, 1e9, options).value, RewardOf(true, 1, 1.0, options).value);
  EXPECT_EQ(RewardOf(false, 100, 1.0, options).value, 0);
  EXPECT_EQ(RewardOf(true, 1, std::nullopt, options).coverage, 0);
}

TEST(TurnReward, NamesRoundTrip) {
  for (const auto kind : {RewardKind::kDavinci, RewardKind::kDrKernelPaper, RewardKind::kKevin})
    EXPECT_EQ(*ParseRewardKind(RewardKindName(kind)), kind);
  EXPECT_FALSE(ParseRewardKind("speed").ok());
}

}  // namespace
}  // namespace davinci::rl
