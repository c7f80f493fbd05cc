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

Turn With(Evaluation evaluation) {
  Turn turn;
  turn.evaluation = std::move(evaluation);
  return turn;
}

TEST(DueForPayment, NamesTheBestThatAreNotJudgedAgainYet) {
  const Turn slow = With(Faster(1.1)), fast = With(Faster(3)), wrong = With(Mismatch()),
             middle = With(Faster(2));
  const std::vector<const Turn*> group = {&slow, &fast, &wrong, &middle};
  EXPECT_THAT(DueForPayment(group, {false, false, false, false}, 2), ElementsAre(1, 3));
  EXPECT_THAT(DueForPayment(group, {false, true, false, false}, 2), ElementsAre(3));
  EXPECT_THAT(DueForPayment(group, {false, true, false, true}, 2), IsEmpty());
  EXPECT_THAT(DueForPayment(group, {false, false, false, false}, 0), IsEmpty());
}

TEST(DueForPayment, TheNextInLineIsDueWhereAPlaceIsLost) {
  const Turn was_fast = With(Faster(1)), next = With(Faster(2));
  EXPECT_THAT(DueForPayment({&was_fast, &next}, {true, false}, 1), ElementsAre(1));
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
