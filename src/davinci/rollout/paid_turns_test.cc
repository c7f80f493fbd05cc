#include "davinci/rollout/paid_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/rollout/policy_check.h"

namespace davinci::rollout {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Evaluation Faster(double speedup, double spread = 1.05) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{speedup, speedup / spread, speedup * spread, true,
                               "eager", speedup / spread, speedup * spread};
  return evaluation;
}

Evaluation Mismatch() {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kMismatch;
  evaluation.correct = false;
  return evaluation;
}

TEST(DueForPayment, NamesTheBestThatAreNotJudgedAgainYet) {
  std::vector<PaidClaim> group = {{1.1}, {3.0}, {}, {2.0}};
  EXPECT_THAT(DueForPayment(group, 2), ElementsAre(1, 3));
  EXPECT_THAT(DueForPayment(group, 0), IsEmpty());
  group[1].done = true;
  EXPECT_THAT(DueForPayment(group, 2), ElementsAre(3));
  group[3].done = true;
  EXPECT_THAT(DueForPayment(group, 2), IsEmpty());
}

// The luckiest of two that are alike keeps its place; a forged time does not.
TEST(DueForPayment, TheNextInLineIsDueWhereAPlaceIsLost) {
  const PaidClaim next = {1.98};
  EXPECT_THAT(DueForPayment({ClaimAfter(Faster(2), Faster(1.7)), next}, 1), IsEmpty());
  EXPECT_THAT(DueForPayment({ClaimAfter(Faster(9), Faster(1.1)), next}, 1), ElementsAre(1));
  EXPECT_THAT(DueForPayment({ClaimAfter(Faster(9), Mismatch()), next}, 1), ElementsAre(1));
}

TEST(Audit, DrawsAShareThatFollowsFromSeedAndTurn) {
  int drawn = 0;
  int changed = 0;
  for (int i = 0; i < 2000; ++i) {
    const TurnId turn{{"softmax", 0, i, 1}, 1};
    drawn += IsAudited(turn, 0.1, 7);
    changed += IsAudited(turn, 0.1, 7) != IsAudited(turn, 0.1, 8);
    EXPECT_FALSE(IsAudited(turn, 0, 7));
    EXPECT_TRUE(IsAudited(turn, 1, 7));
  }
  EXPECT_NEAR(drawn, 200, 50);
  EXPECT_GT(changed, 200);
}

TEST(Agree, GoesByCorrectnessAndByIntervalsThatMeet) {
  EXPECT_TRUE(Agree(Faster(2), Faster(2.1)));
  EXPECT_FALSE(Agree(Faster(2), Faster(3)));
  EXPECT_FALSE(Agree(Faster(2), Mismatch()));
  EXPECT_FALSE(Agree(Mismatch(), Faster(2)));
  EXPECT_TRUE(Agree(Mismatch(), Mismatch()));
}

TEST(RefuseUnjudged, ATextWithoutAKernelIsNotJudgedUnderStaged) {
  StepSettings settings;
  settings.require_own_kernel = true;
  EXPECT_FALSE(RefuseUnjudged(settings, settings.language, Language::kPython, ""));
  settings.turn_protocol = "staged";
  const auto refused = RefuseUnjudged(settings, settings.language, Language::kPython, "");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->outcome, Outcome::kPolicyViolation);
  EXPECT_FALSE(RefuseUnjudged(settings, settings.language, Language::kTriton, ""));
}

}  // namespace
}  // namespace davinci::rollout
