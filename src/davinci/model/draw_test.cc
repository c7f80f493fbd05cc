#include "davinci/model/draw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "davinci/base/rng.h"

namespace davinci::model {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Noise, IsUniformAndDependsOnSeedAndPosition) {
  double sum = 0;
  std::set<float> seen;
  for (int i = 0; i < 20000; ++i) {
    const float value = Noise(static_cast<uint64_t>(i % 100), i / 100);
    EXPECT_GE(value, 0.0F);
    EXPECT_LT(value, 1.0F);
    sum += value;
    seen.insert(value);
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.01);
  EXPECT_GT(seen.size(), 19900U);
  EXPECT_EQ(Noise(5, 7), Noise(5, 7));
}

TEST(Draw, TemperatureZeroIsTheLikeliestWithItsProbabilityAtOne) {
  const float logits[] = {0.0F, 2.0F, 1.0F};
  Sampling greedy;
  greedy.temperature = 0;
  DrawScratch scratch;
  const Step step = Draw(logits, greedy, 0.99F, 2, &scratch);
  EXPECT_EQ(step.token, 1);
  const double total = 1 + std::exp(2.0) + std::exp(1.0);
  EXPECT_NEAR(step.logprob, 2 - std::log(total), 1e-6);
  ASSERT_EQ(step.alternatives.size(), 2U);
  EXPECT_EQ(step.alternatives[1].first, 2);
}

TEST(Draw, NoiseSelectsByCumulatedProbability) {
  const float logits[] = {std::log(0.25F), std::log(0.5F), std::log(0.25F)};
  DrawScratch scratch;
  EXPECT_EQ(Draw(logits, {}, 0.0F, 0, &scratch).token, 0);
  EXPECT_EQ(Draw(logits, {}, 0.249F, 0, &scratch).token, 0);
  EXPECT_EQ(Draw(logits, {}, 0.251F, 0, &scratch).token, 1);
  EXPECT_EQ(Draw(logits, {}, 0.751F, 0, &scratch).token, 2);
}

// The probability mass of every restriction, and log-probabilities that add up to one.
TEST(Draw, RestrictionsKeepTheTokensTheyShould) {
  SplitMix64 rng(3);
  std::vector<float> logits(1000);
  for (float& value : logits) value = static_cast<float>(rng.Uniform() * 4);
  DrawScratch scratch;
  for (const Sampling& sampling :
       {Sampling{1.0, 7, 1.0, 0, 0}, Sampling{1.0, 0, 0.6, 0, 0}, Sampling{0.7, 0, 1.0, 0.5, 0},
        Sampling{2.0, 400, 0.9, 0.1, 0}}) {
    double mass = 0;
    std::set<TokenId> seen;
    for (int i = 0; i < 4000; ++i) {
      const Step step = Draw(logits, sampling, static_cast<float>(i) / 4000.0F, 0, &scratch);
      if (seen.insert(step.token).second) mass += std::exp(static_cast<double>(step.logprob));
    }
    EXPECT_NEAR(mass, 1, 2e-3);
    if (sampling.top_k == 7) {
      EXPECT_EQ(seen.size(), 7U);
    }
    EXPECT_LT(seen.size(), 1000U);
  }
}

TEST(Draw, AFilterLeavesAllowedTokensWithTheirSharesOfWhatStays) {
  DrawScratch scratch;
  const uint64_t allowed[] = {1ULL << 3 | 1ULL << 40, 1ULL << 2};  // 3, 40 and 66
  std::vector<float> logits(100, 9.0F);
  logits[3] = 1, logits[40] = 2, logits[66] = 3;
  const double total = std::exp(1.0) + std::exp(2.0) + std::exp(3.0);
  std::set<TokenId> seen;
  for (int i = 0; i < 1000; ++i) {
    const Step step = Draw(logits, {}, static_cast<float>(i) / 1000.0F, 0, &scratch, allowed);
    seen.insert(step.token);
    EXPECT_NEAR(step.logprob, logits[static_cast<size_t>(step.token)] - std::log(total), 1e-5);
  }
  EXPECT_EQ(seen, (std::set<TokenId>{3, 40, 66}));
  Sampling greedy;
  greedy.temperature = 0;
  EXPECT_EQ(Draw(logits, greedy, 0.5F, 0, &scratch, allowed).token, 66);
  for (const float bits : {std::nanf(""), -kInf, kInf}) {
    const std::vector<float> same(100, bits);
    EXPECT_TRUE(
        IsAllowed(allowed, static_cast<size_t>(Draw(same, {}, 0.9F, 0, &scratch, allowed).token)));
  }
}

TEST(Draw, AnyLogitsGiveATokenOfTheVocabulary) {
  DrawScratch scratch;
  const float nan = std::nanf("");
  for (const auto& logits :
       {std::vector<float>{nan, nan}, std::vector<float>{kInf, 0}, std::vector<float>{-kInf, -kInf},
        std::vector<float>{nan, 1, kInf}, std::vector<float>{0}}) {
    for (const double temperature : {0.0, 1e-9, 1.0}) {
      Sampling sampling;
      sampling.temperature = temperature;
      sampling.top_p = 0.5;
      sampling.top_k = 3;
      const Step step = Draw(logits, sampling, 0.999F, 3, &scratch);
      EXPECT_GE(step.token, 0);
      EXPECT_LT(step.token, static_cast<TokenId>(logits.size()));
    }
  }
}

}  // namespace
}  // namespace davinci::model
