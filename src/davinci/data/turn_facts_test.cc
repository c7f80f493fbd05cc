#include "davinci/data/turn_facts.h"

#include <gtest/gtest.h>

namespace davinci {
namespace {

Evaluation Profiled(const nlohmann::json& profile) {
  Evaluation evaluation;
  evaluation.evidence["profile"] = profile;
  return evaluation;
}

TEST(Coverage, IsTheShareOfItsOwnKernelsOnBothTargets) {
  EXPECT_EQ(Coverage(Evaluation()), std::nullopt);
  EXPECT_EQ(Coverage(Profiled({{"library_share", 0.25}})), 0.75);
  EXPECT_EQ(Coverage(Profiled({{"library_share", 0.0}, {"device", {{"custom_time_share", 0.5}}}})),
            0.5);
  EXPECT_EQ(Coverage(Profiled({{"device", {{"custom_time_share", 1.2}}}})), 1.0);
  EXPECT_EQ(Coverage(Profiled("damaged")), std::nullopt);
}

TEST(OnlyPyTorch, IsSeenInTheSourceOrInTheProfile) {
  EXPECT_TRUE(OnlyPyTorch(Language::kPython, {}));
  EXPECT_FALSE(OnlyPyTorch(Language::kTriton, {}));
  const auto launched = [](int kernels, int own) {
    return Profiled({{"device", {{"kernels", kernels}, {"custom_kernels", own}}}});
  };
  EXPECT_TRUE(OnlyPyTorch(Language::kTriton, launched(5, 0)));
  EXPECT_FALSE(OnlyPyTorch(Language::kTriton, launched(5, 1)));
  EXPECT_FALSE(OnlyPyTorch(Language::kTriton, launched(0, 0))) << "a blind profiler";
}

// The judge's own word, a decoy, and a violation that leaves `correct` as it was compared.
TEST(EarnsReward, ADecoyAndAViolationDoNot) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  EXPECT_TRUE(EarnsReward(Language::kCpp, evaluation));
  EXPECT_FALSE(EarnsReward(Language::kPython, evaluation));
  EXPECT_TRUE(IsAccepted(evaluation));
  for (const Outcome outcome : {Outcome::kPolicyViolation, Outcome::kInvalidTiming}) {
    evaluation.outcome = outcome;
    EXPECT_FALSE(IsAccepted(evaluation));
    EXPECT_FALSE(EarnsReward(Language::kCpp, evaluation));
  }
}

TEST(PublishedReward, CountsCorrectnessSpeedAndCoverageUpToTheCap) {
  EXPECT_EQ(PublishedReward(false, 9, 1.0), 0);
  EXPECT_DOUBLE_EQ(PublishedReward(true, 2, std::nullopt), 1.5);
  EXPECT_DOUBLE_EQ(PublishedReward(true, 9, 1.0), 4.0);
  EXPECT_DOUBLE_EQ(PublishedReward(true, 9, 0.5, 3), 2.25);
  EXPECT_DOUBLE_EQ(PublishedReward(true, 9, 1e9), 4.0);
}

TEST(PublishedReward, DrKernelsPaperPaysTwiceItsCodeAndKevinHasNoCap) {
  EXPECT_DOUBLE_EQ(DrKernelPaperReward(true, 8, 0.4), 4.4);
  EXPECT_DOUBLE_EQ(DrKernelPaperReward(true, 8, 0.4),
                   2 * PublishedReward(true, 8, 0.4, kDrKernelSpeedupCap));
  EXPECT_DOUBLE_EQ(KevinReward(true, 20), 20.3);
  EXPECT_EQ(DrKernelPaperReward(false, 8, 0.4), 0);
  EXPECT_EQ(KevinReward(false, 20), 0);
}

}  // namespace
}  // namespace davinci
