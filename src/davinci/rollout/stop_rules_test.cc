#include "davinci/rollout/stop_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace davinci::rollout {
namespace {

using ::testing::HasSubstr;

Evaluation Timed(double speedup, double spread = 1.05) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{speedup, speedup / spread, speedup * spread, true, "eager"};
  evaluation.baseline_time = TimeSummary{10, 10, 10, 9};
  evaluation.evidence["roofline"] = {{"attainable_ms", 1.0}, {"impossible_ms", 0.1}};
  return evaluation;
}

Evaluation Wrong() {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kMismatch;
  evaluation.correct = false;
  return evaluation;
}

TEST(RooflineShare, TakesTheSlowerEndOfTheInterval) {
  // 10 ms / (8 / 1.05) = 1.3125 ms at the slowest; 1 ms is attainable.
  EXPECT_NEAR(*RooflineShareLow(Timed(8)), 1 / 1.3125, 1e-12);
  EXPECT_FALSE(RooflineShareLow(Wrong()));
}

TEST(IsBetterThanNoise, OverlappingIntervalsAreNot) {
  EXPECT_FALSE(IsBetterThanNoise(Timed(2), Timed(2.1), 1));
  EXPECT_TRUE(IsBetterThanNoise(Timed(2), Timed(2.5), 1));
  EXPECT_FALSE(IsBetterThanNoise(Timed(2), Timed(2.5), 1.3));
}

TEST(IsBetterThanNoise, AnUnboundedIntervalTellsNothing) {
  Evaluation open = Timed(9);
  open.speedup->low = 0;
  EXPECT_FALSE(IsBetterThanNoise(Timed(1), open, 1));
  Evaluation before = Timed(1);
  before.speedup->high = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(IsBetterThanNoise(before, Timed(9), 1));
}

TEST(ReasonToStop, StagnationCountsTurnsSinceTheLastRealGain) {
  StopSettings settings;
  settings.stagnant_turns = 2;
  EXPECT_FALSE(ReasonToStop(std::vector{Timed(2), Timed(2.02)}, settings));
  EXPECT_THAT(*ReasonToStop(std::vector{Timed(2), Timed(2.02), Wrong()}, settings),
              HasSubstr("2 turns in a row"));
  EXPECT_FALSE(ReasonToStop(std::vector{Timed(2), Wrong(), Timed(3), Wrong()}, settings));
  // Nothing correct yet is no stagnation: the next attempt may be the first that works.
  EXPECT_FALSE(ReasonToStop(std::vector{Wrong(), Wrong(), Wrong()}, settings));
}

TEST(ReasonToStop, TheRooflineEndsIt) {
  StopSettings settings;
  EXPECT_THAT(*ReasonToStop(std::vector{Timed(9.9)}, settings), HasSubstr("roofline"));
  settings.roofline_share = 0;
  EXPECT_FALSE(ReasonToStop(std::vector{Timed(9.9)}, settings));
}

}  // namespace
}  // namespace davinci::rollout
