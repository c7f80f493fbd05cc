#include "davinci/skill/uplift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace davinci::skill {
namespace {

Evaluation Timed(double median, double low, double high) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{median, low, high, true, "eager"};
  return evaluation;
}

TEST(Uplift, HalfWidthsOfTheLogarithmsAddInQuadrature) {
  // before 2 (/1.03, x1.04), after 3 (/1.04, x1.03), in logarithms.
  const auto uplift = UpliftOf(Timed(2, 2 / 1.03, 2 * 1.04), Timed(3, 3 / 1.04, 3 * 1.03));
  ASSERT_TRUE(uplift.ok());
  EXPECT_NEAR(uplift->median, 1.5, 1e-12);
  // Both sides: sqrt(ln(1.04)^2 + ln(1.04)^2) downwards, sqrt(ln(1.03)^2 + ln(1.03)^2) upwards.
  EXPECT_NEAR(uplift->low, 1.5 * std::exp(-std::sqrt(2) * std::log(1.04)), 1e-12);
  EXPECT_NEAR(uplift->high, 1.5 * std::exp(std::sqrt(2) * std::log(1.03)), 1e-12);
}

TEST(Uplift, AnUnboundedBeforeBoundsNothingFromBelow) {
  const auto uplift =
      UpliftOf(Timed(2, 1.9, std::numeric_limits<double>::infinity()), Timed(3, 2.9, 3.1));
  ASSERT_TRUE(uplift.ok());
  EXPECT_EQ(uplift->low, 0);
  EXPECT_TRUE(std::isfinite(uplift->high));
}

TEST(Uplift, OnlyCorrectAndTimedKernelsAreEvidence) {
  Evaluation wrong;
  wrong.outcome = Outcome::kMismatch;
  wrong.message = "3 of 4 wrong";
  const auto uplift = UpliftOf(Timed(1, 0.9, 1.1), wrong);
  ASSERT_FALSE(uplift.ok());
  EXPECT_EQ(uplift.status().message(),
            "the kernel with the skill is no evidence: mismatch: 3 of 4 wrong");
  EXPECT_FALSE(UpliftOf(wrong, Timed(1, 0.9, 1.1)).ok());
  EXPECT_FALSE(UpliftOf(Timed(0, 0, 0), Timed(1, 0.9, 1.1)).ok());
  Evaluation compiled = Timed(1, 0.9, 1.1);
  compiled.speedup->baseline = "compile";
  EXPECT_FALSE(UpliftOf(Timed(1, 0.9, 1.1), compiled).ok());
}

}  // namespace
}  // namespace davinci::skill
