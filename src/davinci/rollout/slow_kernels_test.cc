#include "davinci/rollout/slow_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::rollout {
namespace {

using ::testing::ElementsAre;

Evaluation RightWith(double speedup) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{speedup, speedup, speedup, true, "eager", speedup, speedup};
  return evaluation;
}

TEST(SlowKernels, RightAnswersThatAreNoFasterAreSlow) {
  EXPECT_TRUE(IsSlow(RightWith(0.7)));
  EXPECT_FALSE(IsSlow(RightWith(1.5)));
  Evaluation wrong = RightWith(0.7);
  wrong.outcome = Outcome::kMismatch;
  EXPECT_FALSE(IsSlow(wrong));
  Evaluation interpreted;
  interpreted.outcome = Outcome::kCompileOnly;
  interpreted.correct = true;
  EXPECT_FALSE(IsSlow(interpreted));
}

TEST(SlowKernels, LongestIsTriedFirstAndStaysAwayWhereThatIsFaster) {
  Evaluation whole = RightWith(0.5);
  whole.evidence["profile"]["device"]["list"] = {{{"name", "f1"}, {"ms", 0.1}},
                                                 {{"name", "f2"}, {"ms", 0.3}},
                                                 {{"name", "gemm"}, {"ms", 0.9}},
                                                 {{"name", "f2"}, {"ms", 0.3}},
                                                 {{"name", "f3"}, {"ms", 0.2}}};
  SlowKernels search({"f1", "f2", "f3"}, whole);
  EXPECT_THAT(search.Next().value(), ElementsAre("f1", "f3"));
  EXPECT_TRUE(search.Learn(RightWith(0.9)));
  EXPECT_THAT(search.Next().value(), ElementsAre("f1"));
  EXPECT_FALSE(search.Learn(RightWith(0.8)));
  EXPECT_THAT(search.Next().value(), ElementsAre("f3"));
  EXPECT_THAT(search.Others({"f3"}),
              ElementsAre(agent::LeftOut{"f1", "the reply is faster without it"},
                          agent::LeftOut{"f2", "the reply is faster without it"}));
  EXPECT_TRUE(search.Learn(RightWith(1.1)));
  EXPECT_FALSE(search.Next()) << "one kernel is left";
}

TEST(SlowKernels, WrongWithoutOneKeepsIt) {
  SlowKernels search({"f1", "f2"}, RightWith(0.5));
  const auto asked = search.Next().value();
  Evaluation wrong;
  wrong.outcome = Outcome::kMismatch;
  EXPECT_FALSE(search.Learn(wrong));
  EXPECT_NE(search.Next().value(), asked);
}

// A profile is outside input.
TEST(SlowKernels, OddProfilesAreNone) {
  Evaluation whole = RightWith(0.5);
  whole.evidence["profile"]["device"]["list"] = {1, {{"name", 2}, {"ms", "x"}}, nullptr};
  EXPECT_TRUE(SlowKernels({"f1", "f2"}, whole).Next());
  whole.evidence["profile"]["device"]["list"] = "none";
  EXPECT_TRUE(SlowKernels({"f1", "f2"}, whole).Next());
}

}  // namespace
}  // namespace davinci::rollout
