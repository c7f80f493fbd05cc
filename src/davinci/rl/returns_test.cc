#include "davinci/rl/returns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::rl {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

const auto kNoReturn = Eq(std::nullopt);
auto Return(double value) { return Optional(testing::DoubleNear(value, 1e-12)); }

// gamma 0.4 over rewards 0.3, 0, 1.5, 2.3:
// G4 = 2.3; G3 = 1.5 + 0.92 = 2.42; G2 = 0 + 0.968 = 0.968; G1 = 0.3 + 0.3872 = 0.6872.
TEST(Returns, DiscountedSumOfKevin) {
  const Rewards r = {0.3, 0.0, 1.5, 2.3};
  EXPECT_THAT(Returns(r, ReturnKind::kDiscountedSum, 0.4),
              ElementsAre(Return(0.6872), Return(0.968), Return(2.42), Return(2.3)));
}

// gamma 0.8 over eight turns of 1 at turn 8 only: G_t = 0.8^(8-t).
TEST(Returns, OneRewardAtTheEndReachesEveryTurnBefore) {
  Rewards r(8, 0.0);
  r.back() = 1;
  const Rewards g = Returns(r, ReturnKind::kDiscountedSum, 0.8);
  EXPECT_THAT(g.front(), Return(0.2097152));
  EXPECT_THAT(g[6], Return(0.8));
  EXPECT_EQ(g, Returns(r, ReturnKind::kDiscountedMax, 0.8));
}

// max with gamma 0.8 over 1, 0, 2: G3 = 2, G2 = max(0, 1.6), G1 = max(1, 1.28).
TEST(Returns, DiscountedMaxTakesTheBestOfOwnAndLater) {
  const Rewards r = {1.0, 0.0, 2.0};
  EXPECT_THAT(Returns(r, ReturnKind::kDiscountedMax, 0.8),
              ElementsAre(Return(1.28), Return(1.6), Return(2)));
}

// The last judged turn is the answer: gamma 0.5 over 3, 1, 2, judge error: 0.5, 1, 2, nothing.
TEST(Returns, FinalCreditsTheLastJudgedTurnAlone) {
  const Rewards r = {3.0, 1.0, 2.0, std::nullopt};
  EXPECT_THAT(Returns(r, ReturnKind::kFinal, 0.5),
              ElementsAre(Return(0.5), Return(1), Return(2), kNoReturn));
  EXPECT_THAT(PaidRewards(r, ReturnKind::kFinal),
              ElementsAre(Return(0), Return(0), Return(2), kNoReturn));
  EXPECT_EQ(PaidRewards(r, ReturnKind::kDiscountedSum), r);
}

TEST(Returns, MaxKeepsANegativeRewardWhenNothingBetterFollows) {
  EXPECT_THAT(Returns(Rewards{-1.0, -0.5}, ReturnKind::kDiscountedMax, 0.4),
              ElementsAre(Return(-0.2), Return(-0.5)));
}

TEST(Returns, WithGammaOneIsTheSumOfTheRest) {
  EXPECT_THAT(Returns(Rewards{1.0, 2.0, 3.0}, ReturnKind::kDiscountedSum, 1),
              ElementsAre(Return(6), Return(5), Return(3)));
}

TEST(Returns, AJudgeErrorHasNoReturnAndIsNotCountedByTheDiscount) {
  const Rewards r = {1.0, std::nullopt, 2.0};
  EXPECT_THAT(Returns(r, ReturnKind::kDiscountedSum, 0.5),
              ElementsAre(Return(2), kNoReturn, Return(2)));
  EXPECT_THAT(Returns(Rewards{std::nullopt}, ReturnKind::kDiscountedSum, 0.5),
              ElementsAre(kNoReturn));
}

TEST(TurnMask, AVoidTurnIsNotTrainedAndEarnsNothing) {
  const MaskedTurns m = ApplyTurnMask(Rewards{0.0, 1.5, -0.3, 2.0}, TurnMaskRule::kMaskVoid);
  EXPECT_THAT(m.trained, ElementsAre(true, true, false, true));
  EXPECT_THAT(m.rewards, ElementsAre(Return(0), Return(1.5), Return(0), Return(2)));
}

TEST(TurnMask, FailuresBeforeTheFirstSuccessAreTrained) {
  const MaskedTurns m = ApplyTurnMask(Rewards{0.0, 0.0, 1.0}, TurnMaskRule::kMaskVoid);
  EXPECT_THAT(m.trained, ElementsAre(true, true, true));
}

TEST(TurnMask, BreakingAWorkingKernelCosts) {
  const MaskedTurns m =
      ApplyTurnMask(Rewards{1.5, 0.0, 0.5}, TurnMaskRule::kPenaliseBreaking, -0.25);
  EXPECT_THAT(m.trained, ElementsAre(true, true, true));
  EXPECT_THAT(m.rewards, ElementsAre(Return(1.5), Return(-0.25), Return(0.5)));
}

TEST(TurnMask, AJudgeErrorNeitherTrainsNorMakesOthersVoid) {
  const MaskedTurns m = ApplyTurnMask(Rewards{std::nullopt, 0.0, 1.0}, TurnMaskRule::kMaskVoid);
  EXPECT_THAT(m.trained, ElementsAre(false, true, true));
  EXPECT_THAT(m.rewards, ElementsAre(kNoReturn, Return(0), Return(1)));
}

}  // namespace
}  // namespace davinci::rl
