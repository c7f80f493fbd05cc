#include "davinci/rl/policy_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace davinci::rl {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;

TEST(PolicyLoss, OnPolicyItIsMinusTheAdvantage) {
  const TokenLoss t = ClippedTokenLoss(0, 1.5, {});
  EXPECT_DOUBLE_EQ(t.loss, -1.5);
  EXPECT_DOUBLE_EQ(t.gradient, -1.5);
  EXPECT_DOUBLE_EQ(ClippedTokenLoss(0, -2, {}).gradient, 2);
}

// A = 1, rho = 1.5 > 1.28: the loss is -1.28 and pulls no further.
TEST(PolicyLoss, AGoodTokenIsNotPushedBeyondTheUpperClip) {
  const TokenLoss t = ClippedTokenLoss(std::log(1.5), 1, {});
  EXPECT_DOUBLE_EQ(t.loss, -1.28);
  EXPECT_EQ(t.gradient, 0);
  EXPECT_TRUE(t.clipped_high);
  // … but is pulled back up without bound when it has become unlikely.
  EXPECT_DOUBLE_EQ(ClippedTokenLoss(std::log(0.5), 1, {}).gradient, -0.5);
}

// A = -1, rho = 0.5 < 0.8: loss 0.8, no gradient.
TEST(PolicyLoss, ABadTokenIsNotPushedBelowTheLowerClip) {
  const TokenLoss t = ClippedTokenLoss(std::log(0.5), -1, {});
  EXPECT_DOUBLE_EQ(t.loss, 0.8);
  EXPECT_EQ(t.gradient, 0);
  EXPECT_TRUE(t.clipped_low);
}

// A = -2, rho = 5: -A rho = 10 > 2 * 3.
TEST(PolicyLoss, DualClipBoundsABadTokenThatBecameLikely) {
  const TokenLoss t = ClippedTokenLoss(std::log(5.0), -2, {});
  EXPECT_DOUBLE_EQ(t.loss, 6);
  EXPECT_EQ(t.gradient, 0);
  EXPECT_TRUE(t.clipped_dual);
  ClipOptions off;
  off.dual = 0;
  EXPECT_NEAR(ClippedTokenLoss(std::log(5.0), -2, off).loss, 10, 1e-12);
}

// The stated gradient is that of the stated loss, away from the kinks.
TEST(PolicyLoss, GradientIsTheDerivative) {
  for (const double advantage : {-1.7, -0.3, 0.4, 2.2})
    for (double d = -2.05; d < 2.1; d += 0.1) {
      constexpr double kStep = 1e-6;
      const double slope = (ClippedTokenLoss(d + kStep, advantage, {}).loss -
                            ClippedTokenLoss(d - kStep, advantage, {}).loss) /
                           (2 * kStep);
      EXPECT_NEAR(ClippedTokenLoss(d, advantage, {}).gradient, slope, 1e-5)
          << d << " " << advantage;
    }
}

// Sequences of 10, 0 and 30 trained tokens.
TEST(Aggregation, WeightsOfATokenBySequence) {
  const int64_t n[] = {10, 0, 30};
  EXPECT_THAT(TokenWeights(Aggregation::kTokenMean, n, 1000),
              ElementsAre(DoubleNear(1 / 40.0, 1e-15), 0, DoubleNear(1 / 40.0, 1e-15)));
  EXPECT_THAT(TokenWeights(Aggregation::kSequenceMeanTokenSum, n, 1000),
              ElementsAre(DoubleNear(1 / 2000.0, 1e-15), 0, DoubleNear(1 / 2000.0, 1e-15)));
  EXPECT_THAT(TokenWeights(Aggregation::kSequenceMeanTokenMean, n, 1000),
              ElementsAre(DoubleNear(1 / 20.0, 1e-15), 0, DoubleNear(1 / 60.0, 1e-15)));
  EXPECT_THAT(TokenWeights(Aggregation::kTokenSumConstant, n, 1000),
              ElementsAre(DoubleNear(1e-3, 1e-15), 0, DoubleNear(1e-3, 1e-15)));
}

TEST(Aggregation, NamesRoundTrip) {
  for (const auto a : {Aggregation::kTokenMean, Aggregation::kSequenceMeanTokenSum,
                       Aggregation::kSequenceMeanTokenMean, Aggregation::kTokenSumConstant})
    EXPECT_EQ(*ParseAggregation(AggregationName(a)), a);
  EXPECT_FALSE(ParseAggregation("mean").ok());
}

}  // namespace
}  // namespace davinci::rl
