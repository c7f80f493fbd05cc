#include "davinci/agent/trigger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "davinci/agent/testing/evaluations.h"

namespace davinci::agent {
namespace {

using testing::Failed;
using ::testing::HasSubstr;
using testing::kUnbounded;
using testing::Timed;

TEST(Trigger, FiresWhenALaterTurnIsClearlyFaster) {
  const auto decision = DecideTrigger(std::vector{Timed(1.0), Timed(1.1), Timed(2.0)}, {});
  EXPECT_TRUE(decision.fire) << decision.reason;
  EXPECT_EQ(decision.best, 2);
  EXPECT_DOUBLE_EQ(decision.gain, 2.0);
  // ln low = ln 2 - hypot(ln(1/0.99), ln 1.01)
  EXPECT_NEAR(decision.gain_low, 1.9719, 1e-3);
}

TEST(Trigger, AsksTheIntervalsNotThePoints) {
  const std::vector turns = {Timed(1.0, 0.15), Timed(1.3, 0.15)};
  EXPECT_FALSE(DecideTrigger(turns, {}).fire);
  EXPECT_TRUE(DecideTrigger(turns, {.as_published = true}).fire);
}

TEST(Trigger, TheGainOverTurnOneHasItsOwnInterval) {
  // The best speedup is certain, turn 1 is not.
  const auto decision = DecideTrigger(std::vector{Timed(1.5, 1.1, 2.1), Timed(2.0, 0.001)}, {});
  EXPECT_FALSE(decision.fire);
  EXPECT_THAT(decision.reason, HasSubstr("gain over turn 1"));
}

TEST(Trigger, AnUnboundedIntervalProvesNothing) {
  EXPECT_FALSE(DecideTrigger(std::vector{Timed(1.0, 0.0, kUnbounded), Timed(9.0)}, {}).fire);
  EXPECT_FALSE(DecideTrigger(std::vector{Timed(1.0), Timed(9.0, 0.0, kUnbounded)}, {}).fire);
}

TEST(Trigger, TakesTheTurnWithTheBestLowerEnd) {
  const std::vector turns = {Timed(1.0), Timed(3.0, 1.3, 7.0), Timed(2.0)};
  EXPECT_EQ(DecideTrigger(turns, {}).best, 2);
  EXPECT_EQ(DecideTrigger(turns, {.as_published = true}).best, 1);
}

TEST(Trigger, NeedsAFastBestNotOnlyAGain) {
  const auto decision = DecideTrigger(std::vector{Timed(0.3), Timed(1.1)}, {});
  EXPECT_FALSE(decision.fire);
  EXPECT_THAT(decision.reason, HasSubstr("best speedup"));
}

TEST(Trigger, NeedsACorrectFirstTurnUnlessToldOtherwise) {
  const std::vector turns = {Failed(Outcome::kMismatch), Timed(2.0)};
  EXPECT_FALSE(DecideTrigger(turns, {}).fire);
  EXPECT_TRUE(DecideTrigger(turns, {.require_first_correct = false}).fire);
}

TEST(Trigger, SaysWhyWhenThereIsNothingToCompare) {
  EXPECT_FALSE(DecideTrigger({}, {}).reason.empty());
  const auto only_first = DecideTrigger(std::vector{Timed(5.0)}, {});
  EXPECT_FALSE(only_first.fire);
  EXPECT_EQ(only_first.best, -1);
  EXPECT_FALSE(DecideTrigger(std::vector{Timed(1.0), Failed(Outcome::kCompileOnly)}, {}).fire);
}

}  // namespace
}  // namespace davinci::agent
