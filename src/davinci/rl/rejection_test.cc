#include "davinci/rl/rejection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace davinci::rl {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// mean of 0.003, -0.001, 0.0002 = 0.000733…; exp of it = 1.000733602.
TEST(Mismatch, TheBandIsOnTheGeometricMean) {
  const double d[] = {0.003, -0.001, 0.0002};
  const Mismatch m = AssessMismatch(d, {});
  EXPECT_NEAR(m.geometric_ratio, 1.0007336, 1e-7);
  EXPECT_EQ(m.verdict, MismatchVerdict::kKept);
  EXPECT_NEAR(m.greatest_ratio, std::exp(0.003), 1e-12);
  const double drifted[] = {0.002, 0.0011};
  EXPECT_EQ(AssessMismatch(drifted, {}).verdict, MismatchVerdict::kOutsideBand);
  const double below[] = {-0.0012, -0.0011};
  EXPECT_EQ(AssessMismatch(below, {}).verdict, MismatchVerdict::kOutsideBand);
}

TEST(Mismatch, OneTokenTheTrainerFindsImpossibleVetoesTheSequence) {
  std::vector<double> d(100000, 1e-4);
  d[7] = std::log(0.9e-4);
  MismatchOptions wide;
  wide.low = 0.5;
  wide.high = 2;
  EXPECT_EQ(AssessMismatch(d, wide).verdict, MismatchVerdict::kVetoed);
  d[7] = std::log(1.1e-4);
  EXPECT_EQ(AssessMismatch(d, wide).verdict, MismatchVerdict::kKept);
  wide.veto_ratio = 0;
  d[7] = std::log(1e-9);
  EXPECT_EQ(AssessMismatch(d, wide).verdict, MismatchVerdict::kKept);
}

TEST(Mismatch, ANumberThatIsNoneIsDropped) {
  const double d[] = {0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_NE(AssessMismatch(d, {}).verdict, MismatchVerdict::kKept);
  const double lost[] = {-std::numeric_limits<double>::infinity(), 0};
  EXPECT_EQ(AssessMismatch(lost, {}).verdict, MismatchVerdict::kVetoed);
}

TEST(Mismatch, WithoutTokensNothingIsSaid) {
  EXPECT_EQ(AssessMismatch({}, {}).verdict, MismatchVerdict::kNoTokens);
}

TEST(Tis, TruncatesAtTheCap) {
  const double d[] = {0, std::log(1.5), std::log(7.0), -100};
  EXPECT_THAT(TokenImportanceWeights(d, 2),
              ElementsAre(1, DoubleNear(1.5, 1e-12), 2, DoubleNear(std::exp(-20), 1e-15)));
}

// (0.35 - 0.3) / 0.1 = 0.5.
TEST(Prs, KeepsByCoverage) {
  EXPECT_NEAR(KeepProbability(true, 0.35, 1, {}), 0.5, 1e-12);
  EXPECT_EQ(KeepProbability(true, 0.2, 1, {}), 0);
  EXPECT_EQ(KeepProbability(true, 0.4, 1, {}), 1);
  EXPECT_EQ(KeepProbability(true, 0.9, 1, {}), 1);
}

TEST(Prs, WrongUnprofiledAndVeryFastTurnsStay) {
  EXPECT_EQ(KeepProbability(false, 0.0, 1, {}), 1);
  EXPECT_EQ(KeepProbability(true, std::nullopt, 1, {}), 1);
  ProfilingOptions fast;
  fast.always_keep_speedup = 2;
  EXPECT_EQ(KeepProbability(true, 0.0, 2, fast), 1);
  EXPECT_EQ(KeepProbability(true, 0.0, 1.9, fast), 0);
}

TEST(Prs, WithoutWidthItIsAThreshold) {
  ProfilingOptions hard;
  hard.width = 0;
  EXPECT_EQ(KeepProbability(true, 0.3, 1, hard), 1);
  EXPECT_EQ(KeepProbability(true, 0.2999, 1, hard), 0);
}

TEST(SeededDraw, IsAFunctionOfSeedAndNameAndUniform) {
  EXPECT_EQ(SeededDraw(7, "a#s0r0t1"), SeededDraw(7, "a#s0r0t1"));
  EXPECT_NE(SeededDraw(7, "a#s0r0t1"), SeededDraw(8, "a#s0r0t1"));
  EXPECT_NE(SeededDraw(7, "a#s0r0t1"), SeededDraw(7, "a#s0r0t2"));
  int below = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) below += SeededDraw(1, "task#s0r" + std::to_string(i)) < 0.3;
  // 0.3 +- four standard errors of 0.0032.
  EXPECT_NEAR(below / static_cast<double>(kDraws), 0.3, 0.013);
}

}  // namespace
}  // namespace davinci::rl
