#include "davinci/rl/summary_reward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace davinci::rl {
namespace {

using enum ProposalFate;

TEST(SummaryReward, IsTheLogOfTheProvenGain) {
  const ProposalResult p[] = {{kVerified, 1.5}};
  EXPECT_DOUBLE_EQ(SummaryReward(p, true), std::log(1.5));
}

TEST(SummaryReward, IsBoundedAtLogSix) {
  const ProposalResult p[] = {{kVerified, 30}};
  EXPECT_DOUBLE_EQ(SummaryReward(p, true), std::log(6.0));
  const ProposalResult q[] = {{kVerified, std::numeric_limits<double>::infinity()}};
  EXPECT_DOUBLE_EQ(SummaryReward(q, true), std::log(6.0));
}

TEST(SummaryReward, AGainThatIsNotProvenEarnsNothing) {
  const ProposalResult p[] = {{kVerified, 0.8}};
  EXPECT_EQ(SummaryReward(p, true), 0);
  const ProposalResult zero[] = {{kVerified, 0}};
  EXPECT_EQ(SummaryReward(zero, true), 0);
}

TEST(SummaryReward, ManyProposalsEarnAsTheirBest) {
  const ProposalResult p[] = {{kRefused, 0}, {kVerified, 1.2}, {kUndecided, 0}, {kVerified, 1.1}};
  EXPECT_DOUBLE_EQ(SummaryReward(p, true), std::log(1.2));
}

TEST(SummaryReward, RefusedAndUnreadableCostALittleNothingToSayCostsNothing) {
  const ProposalResult refused[] = {{kRefused, 0}, {kRefused, 0}};
  EXPECT_DOUBLE_EQ(SummaryReward(refused, true), -0.1);
  EXPECT_DOUBLE_EQ(SummaryReward({}, false), -0.2);
  EXPECT_EQ(SummaryReward({}, true), 0);
}

}  // namespace
}  // namespace davinci::rl
