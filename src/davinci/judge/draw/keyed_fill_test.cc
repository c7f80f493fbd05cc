#include "davinci/judge/draw/keyed_fill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace davinci::judge {
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
}  // namespace davinci::judge
