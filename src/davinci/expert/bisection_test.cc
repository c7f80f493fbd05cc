#include "davinci/expert/bisection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::expert {
namespace {

using ::testing::ElementsAre;

Evaluation Said(Outcome outcome) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.correct = outcome == Outcome::kOk;
  return evaluation;
}

Evaluation Slow(double speedup) {
  Evaluation evaluation = Said(Outcome::kOk);
  evaluation.speedup = Speedup{speedup, speedup, speedup, true, "eager"};
  return evaluation;
}

TEST(Bisection, AFineKernelStays) {
  EXPECT_FALSE(Bisection({"a", "b"}).Next(Said(Outcome::kOk)));
  EXPECT_FALSE(Bisection({"a", "b"}).Next(Slow(1.5)));
  EXPECT_FALSE(Bisection({"a", "b"}).Next(Said(Outcome::kJudgeError)));
}

TEST(Bisection, NumbersThatDifferBlameTheRulesThatRound) {
  Bisection bisection({"split_rows", "fast_exp", "one_pass_variance"});
  EXPECT_THAT(*bisection.Next(Said(Outcome::kMismatch)),
              ElementsAre("fast_exp", "one_pass_variance"));
  // It holds: one of the two is given back.
  EXPECT_THAT(*bisection.Next(Said(Outcome::kOk)), ElementsAre("fast_exp"));
  // Wrong again: that one is to blame, and the other is used again.
  EXPECT_THAT(*bisection.Next(Said(Outcome::kMismatch)), ElementsAre("one_pass_variance"));
  EXPECT_FALSE(bisection.Next(Said(Outcome::kOk)));
}

TEST(Bisection, ACrashBlamesTheRulesThatReadMemoryOtherwise) {
  Bisection bisection({"fast_exp", "replay_graph"});
  EXPECT_THAT(*bisection.Next(Said(Outcome::kRuntimeError)), ElementsAre("replay_graph"));
}

TEST(Bisection, FindsTheOneRuleOfMany) {
  const std::vector<std::string> rules = {"a", "b", "c", "d", "e", "f", "g", "h"};
  for (const std::string& guilty : rules) {
    Bisection bisection(rules);
    std::set<std::string> out;
    int kernels = 0;
    for (;;) {
      const auto next = bisection.Next(out.contains(guilty) ? Said(Outcome::kOk) : Slow(0.5));
      if (!next) break;
      out = *next;
      ASSERT_LT(++kernels, 12) << guilty;
    }
    EXPECT_TRUE(out.contains(guilty)) << guilty;
    EXPECT_EQ(out.size(), 1u) << guilty;
  }
}

TEST(Bisection, EndsWhereNoRuleIsToBlame) {
  Bisection bisection({"a", "b", "c"});
  int kernels = 0;
  while (bisection.Next(Said(Outcome::kMismatch))) ASSERT_LT(++kernels, 5);
}

}  // namespace
}  // namespace davinci::expert
