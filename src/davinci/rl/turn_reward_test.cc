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

// The golden table of CUDA Agent: 5 % is the margin, and it is not faster at exactly 5 %.
TEST(TurnReward, MilestonesNeedBothBaselines) {
  const RewardOptions options{RewardKind::kMilestone, 6, 0.5};
  const auto reward = [&](bool correct, std::optional<double> eager,
                          std::optional<double> compile) {
    return RewardOf(correct, eager.value_or(0), 1.0, options, {eager, compile}).value;
  };
  EXPECT_EQ(reward(false, 9, 9), -1);
  EXPECT_EQ(reward(true, 1, 1), 1);
  EXPECT_EQ(reward(true, 1.05, 2), 1);
  EXPECT_EQ(reward(true, 1.06, 1.05), 2);
  EXPECT_EQ(reward(true, 1.06, std::nullopt), 2);
  EXPECT_EQ(reward(true, 1.06, 1.06), 3);
  EXPECT_EQ(reward(true, std::nullopt, 2), 1);
}

TEST(TurnReward, NamesRoundTrip) {
  for (const auto kind : {RewardKind::kDavinci, RewardKind::kDrKernelPaper, RewardKind::kKevin,
                          RewardKind::kMilestone})
    EXPECT_EQ(*ParseRewardKind(RewardKindName(kind)), kind);
  EXPECT_FALSE(ParseRewardKind("speed").ok());
}

}  // namespace
}  // namespace davinci::rl
