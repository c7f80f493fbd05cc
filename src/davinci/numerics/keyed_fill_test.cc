#include "davinci/numerics/keyed_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace davinci::numerics {
namespace {

// Random123's known-answer vectors for philox4x32-10.
TEST(Philox, MatchesPublishedVectors) {
  uint32_t out[4];
  PhiloxBlock(0, 0, 0, out);
  EXPECT_EQ(out[0], 0x6627e8d5u);
  EXPECT_EQ(out[1], 0xe169c58du);
  EXPECT_EQ(out[2], 0xbc57ac4cu);
  EXPECT_EQ(out[3], 0x9b00dbd8u);
  PhiloxBlock(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, out);
  EXPECT_EQ(out[0], 0x408f276du);
  EXPECT_EQ(out[1], 0x41c83b0eu);
  EXPECT_EQ(out[2], 0xa20bc7c6u);
  EXPECT_EQ(out[3], 0x6d5451fdu);
}

TEST(KeyedFill, UniformIsThePublishedGeneratorScaled) {
  std::vector<float> values(1000);
  FillUniform(values.data(), values.size(), 42, 1);
  uint32_t block[4];
  PhiloxBlock(3, 0, 42, block);
  // Word w of block b of a batch of 128 blocks lies at w * 128 + b.
  for (int w = 0; w < 4; ++w)
    if (w * 128 + 3 < 1000) {
      EXPECT_EQ(values[w * 128 + 3], static_cast<float>(block[w] >> 8) * 0x1.0p-24f);
    }
}

TEST(KeyedFill, DoesNotDependOnTheNumberOfThreads) {
  std::vector<float> one(1'000'003);
  std::vector<float> four(one.size());
  FillUniform(one.data(), one.size(), 7, 1);
  FillUniform(four.data(), four.size(), 7, 4);
  EXPECT_EQ(one, four);
}

TEST(KeyedFill, MomentsAreThoseOfTheDistribution) {
  std::vector<float> values(4'000'000);
  auto moments = [&] {
    double sum = 0;
    double square = 0;
    for (float v : values) {
      sum += v;
      square += double{v} * v;
    }
    const double mean = sum / static_cast<double>(values.size());
    return std::pair(mean, square / static_cast<double>(values.size()) - mean * mean);
  };
  FillUniform(values.data(), values.size(), 1, 2);
  EXPECT_NEAR(moments().first, 0.5, 1e-3);  // standard error 1.4e-4
  EXPECT_NEAR(moments().second, 1.0 / 12, 1e-3);
  for (float v : values) ASSERT_TRUE(v >= 0 && v < 1);
}

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(KeyedFill, NormalIsBoxAndMullerOfThePublishedGenerator) {
  std::vector<float> values(512);
  FillNormal(values.data(), values.size(), 42, 1);
  for (int b = 0; b < 128; ++b) {
    uint32_t block[4];
    PhiloxBlock(static_cast<uint64_t>(b), 0, 42, block);
    for (int pair : {0, 2}) {
      const double radius = std::sqrt(-2 * std::log((block[pair] + 0.5) * 0x1.0p-32));
      const double angle = 2 * M_PI * 0x1.0p-32 * block[pair + 1];
      EXPECT_NEAR(values[pair * 128 + b], radius * std::cos(angle), 2e-6);
      EXPECT_NEAR(values[(pair + 1) * 128 + b], radius * std::sin(angle), 2e-6);
    }
  }
}

TEST(KeyedFill, NormalDoesNotDependOnTheNumberOfThreads) {
  std::vector<float> one(1'000'003);
  std::vector<float> four(one.size());
  FillNormal(one.data(), one.size(), 7, 1);
  FillNormal(four.data(), four.size(), 7, 4);
  EXPECT_EQ(one, four);
}

TEST(KeyedFill, NormalHasTheMomentsAndTailsOfTheDistribution) {
  const size_t n = 1 << 24;
  std::vector<float> values(n);
  FillNormal(values.data(), n, 11, 2);
  double moments[7] = {};
  for (float v : values) {
    double power = 1;
    for (double& moment : moments) {
      moment += power;
      power *= v;
    }
  }
  // Within five standard errors, sqrt((E x^2k - (E x^k)^2) / n).
  const double expected[] = {1, 0, 1, 0, 3, 0, 15};
  const double variance[] = {0, 1, 2, 15, 96, 945, 10170};
  for (int k = 1; k < 7; ++k)
    EXPECT_NEAR(moments[k] / n, expected[k], 5 * std::sqrt(variance[k] / n)) << k;
  for (double threshold : {1.0, 2.0, 3.0, 4.0, 5.0}) {
    const double share = 1 - NormalCdf(threshold);
    const double allowed = 5 * std::sqrt(share * static_cast<double>(n)) + 1;
    const auto above =
        std::count_if(values.begin(), values.end(), [&](float v) { return v > threshold; });
    const auto below =
        std::count_if(values.begin(), values.end(), [&](float v) { return v < -threshold; });
    EXPECT_NEAR(static_cast<double>(above), share * static_cast<double>(n), allowed) << threshold;
    EXPECT_NEAR(static_cast<double>(below), share * static_cast<double>(n), allowed) << threshold;
  }
  double together = 0;  // what shares a radius is independent all the same
  for (size_t i = 0; i + 128 < n; i += 256) together += double{values[i]} * values[i + 128];
  EXPECT_LT(std::abs(together), 5 * std::sqrt(n / 256.0));
}

TEST(KeyedFill, NormalIsCloseToItsDistributionEverywhere) {
  std::vector<float> values(1'000'000);
  FillNormal(values.data(), values.size(), 5, 2);
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double distance = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double cdf = NormalCdf(values[i]);
    distance = std::max({distance, std::abs(cdf - static_cast<double>(i) / n),
                         std::abs(cdf - static_cast<double>(i + 1) / n)});
  }
  EXPECT_LT(distance * std::sqrt(n), 1.63);  // Kolmogorov and Smirnov at 1 %
}

TEST(KeyedFill, NudgesToBothSidesByHalfAUnitAndLeavesWholeNumbers) {
  const size_t n = 300'001;  // several threads, the last batch in part
  const double eps = std::numeric_limits<float>::epsilon();
  std::vector<float> from(n);
  FillNormal(from.data(), n, 3, 2);
  from[0] = 7;
  from[1] = -std::numeric_limits<float>::infinity();
  from[2] = std::numeric_limits<float>::quiet_NaN();
  std::vector<double> to(n);
  NudgeFloats(from.data(), n, eps, 4, to.data(), 2);
  EXPECT_EQ(to[0], 7);
  EXPECT_EQ(to[1], from[1]);
  EXPECT_TRUE(std::isnan(to[2]));
  double sum = 0;
  double furthest = 0;
  for (size_t i = 3; i < n; ++i) {
    const double moved = (to[i] / from[i] - 1) / eps;
    sum += moved;
    furthest = std::max(furthest, std::abs(moved));
  }
  EXPECT_LE(furthest, 0.5 + 1e-8);
  EXPECT_GT(furthest, 0.499);
  EXPECT_LT(std::abs(sum), 5 * std::sqrt(n / 12.0));
  std::vector<double> alone(n);
  NudgeFloats(from.data(), n, eps, 4, alone.data(), 1);
  EXPECT_TRUE(std::equal(to.begin() + 3, to.end(), alone.begin() + 3));
}

TEST(KeyedFill, AnotherKeyIsAnotherStream) {
  std::vector<float> a(4096);
  std::vector<float> b(4096);
  FillUniform(a.data(), a.size(), 1, 1);
  FillUniform(b.data(), b.size(), 2, 1);
  int equal = 0;
  for (size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
  EXPECT_LT(equal, 5);
}

}  // namespace
}  // namespace davinci::numerics
