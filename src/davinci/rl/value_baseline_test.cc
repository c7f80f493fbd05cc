#include "davinci/rl/value_baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace davinci::rl {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

auto Exactly(double v) { return DoubleNear(v, 1e-12); }

// r = 0, 0, 1; V = 0.5, 0.6, 0.8; gamma 1, lambda 0.95:
// d3 = 1 - 0.8 = 0.2; d2 = 0.8 - 0.6 = 0.2; d1 = 0.6 - 0.5 = 0.1
// A3 = 0.2; A2 = 0.2 + 0.95 * 0.2 = 0.39; A1 = 0.1 + 0.95 * 0.39 = 0.4705.
TEST(Gae, MatchesAHandComputation) {
  const double r[] = {0, 0, 1};
  const double v[] = {0.5, 0.6, 0.8};
  const GaeResult g = GeneralisedAdvantages(r, v, 1, 0.95);
  EXPECT_THAT(g.advantages, ElementsAre(Exactly(0.4705), Exactly(0.39), Exactly(0.2)));
  EXPECT_THAT(g.returns, ElementsAre(Exactly(0.9705), Exactly(0.99), Exactly(1.0)));
}

// lambda 1 is the Monte Carlo return less the value, whatever the values between are.
TEST(Gae, WithLambdaOneIsTheReturnLessTheValue) {
  const double r[] = {1, 0, 2};
  const double v[] = {9, -3, 4};
  const GaeResult g = GeneralisedAdvantages(r, v, 0.5, 1);
  EXPECT_THAT(g.advantages, ElementsAre(Exactly(1.5 - 9), Exactly(1 + 3), Exactly(2 - 4)));
}

TEST(Gae, WithLambdaZeroIsOneStep) {
  const double r[] = {1, 0};
  const double v[] = {0.5, 0.25};
  const GaeResult g = GeneralisedAdvantages(r, v, 1, 0);
  EXPECT_THAT(g.advantages, ElementsAre(Exactly(0.75), Exactly(-0.25)));
}

// targets 1, 2, 3 (variance 2/3), residuals 0, 0, 1 (variance 2/9): 1 - 1/3.
TEST(ExplainedVariance, IsOneLessTheResidualsShare) {
  const double targets[] = {1, 2, 3};
  const double values[] = {1, 2, 2};
  EXPECT_NEAR(ExplainedVariance(values, targets), 2.0 / 3, 1e-12);
  EXPECT_EQ(ExplainedVariance(targets, targets), 1);
  const double flat[] = {2, 2, 2};
  EXPECT_EQ(ExplainedVariance(values, flat), 0);
}

TEST(CriticGate, OpensAfterAWindowOfGoodStepsAndStaysOpen) {
  CriticGate gate(0.5, 3);
  for (const double ev : {0.9, 0.1, 0.2}) gate.Observe(ev);
  EXPECT_FALSE(gate.open());
  gate.Observe(0.8);
  EXPECT_FALSE(gate.open());  // (0.1 + 0.2 + 0.8) / 3
  gate.Observe(0.6);
  EXPECT_TRUE(gate.open());
  gate.Observe(-5);
  EXPECT_TRUE(gate.open());
}

TEST(CriticGate, IsRestoredAsItWas) {
  CriticGate gate(0.5, 2);
  gate.Observe(0.2);
  CriticGate other(0.5, 2);
  other.Restore(gate.recent(), gate.open());
  EXPECT_FALSE(other.open());
  other.Observe(0.8);
  EXPECT_TRUE(other.open());
  CriticGate third(0.5, 2);
  third.Restore({}, true);
  EXPECT_TRUE(third.open());
}

// 1, 2, 6: mean 3, deviations -2, -1, 3, variance 14/3.
TEST(Whiten, GivesMeanZeroAndDeviationOne) {
  std::vector<double> a = {1, 2, 6};
  Whiten(a);
  const double s = std::sqrt(14.0 / 3);
  EXPECT_NEAR(a[0], -2 / s, 1e-7);
  EXPECT_NEAR(a[2], 3 / s, 1e-7);
  std::vector<double> flat = {4, 4};
  Whiten(flat);
  EXPECT_EQ(flat[0], 0);
}

// Target 1, old value 0, clip 0.2: at 0.5 the held value 0.2 is the worse one (0.5 * 0.64) and has
// no slope; at 0.1 both agree; at 2 the value itself is as bad as 0.2 is not: 0.5 * 1 > 0.32.
TEST(ClippedValueLoss, TakesTheWorseOfValueAndHeldValue) {
  const ValueLoss held = ClippedValueLoss(0.5, 0, 1, 0.2);
  EXPECT_NEAR(held.loss, 0.32, 1e-12);
  EXPECT_EQ(held.gradient, 0);
  EXPECT_TRUE(held.clipped);
  const ValueLoss inside = ClippedValueLoss(0.1, 0, 1, 0.2);
  EXPECT_NEAR(inside.loss, 0.405, 1e-12);
  EXPECT_NEAR(inside.gradient, -0.9, 1e-12);
  EXPECT_FALSE(inside.clipped);
  const ValueLoss worse = ClippedValueLoss(2, 0, 1, 0.2);
  EXPECT_NEAR(worse.loss, 0.5, 1e-12);
  EXPECT_NEAR(worse.gradient, 1, 1e-12);
  EXPECT_NEAR(ClippedValueLoss(0.5, 0, 1, 0).loss, 0.125, 1e-12);
}

}  // namespace
}  // namespace davinci::rl
