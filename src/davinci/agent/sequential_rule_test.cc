#include "davinci/agent/sequential_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "davinci/agent/testing/trial_simulation.h"

namespace davinci::agent {
namespace {

using testing::Simulate;
using testing::SimulatedSkill;

TrialVerdict Look(std::vector<double> log_ratios, int gained, int lost, int num_pairs) {
  // The control's kernels all run at 1x, so the other's log speedups are the log ratios.
  std::vector<SpeedSample> speeds;
  for (const double ratio : log_ratios) {
    speeds.push_back({0, true, ratio});
    speeds.push_back({0, false, 0});
  }
  PairedData data;
  data.speeds = speeds;
  data.gained = gained;
  data.lost = lost;
  data.num_pairs = num_pairs;
  return LookAt(data, std::log(1.05));
}

TEST(SignTestUpper, IsTheBinomialTail) {
  EXPECT_DOUBLE_EQ(SignTestUpper(0, 0), 1);
  EXPECT_DOUBLE_EQ(SignTestUpper(6, 0), 1.0 / 64);
  EXPECT_DOUBLE_EQ(SignTestUpper(9, 1), 11.0 / 1024);
  EXPECT_DOUBLE_EQ(SignTestUpper(0, 6), 1);
}

TEST(SequentialRule, BoundariesOfTheTwoEndpoints) {
  EXPECT_EQ(Look({}, 6, 0, 6).reason, TrialReason::kMoreOftenCorrect);
  EXPECT_EQ(Look({}, 5, 0, 5).state, TrialState::kDrawMore);
  EXPECT_EQ(Look({}, 9, 1, 10).reason, TrialReason::kMoreOftenCorrect);
  EXPECT_EQ(Look({}, 8, 1, 9).state, TrialState::kDrawMore);
  EXPECT_EQ(Look({}, 0, 4, 4).reason, TrialReason::kLowersCorrectness);
  EXPECT_EQ(Look({}, 1, 6, 7).reason, TrialReason::kLowersCorrectness);
  EXPECT_EQ(Look({}, 1, 5, 6).state, TrialState::kDrawMore);
  // Speed alone would do; lost pairs forbid it.
  EXPECT_EQ(Look({0.7, 0.71, 0.69}, 1, 1, 5).reason, TrialReason::kFaster);
  EXPECT_EQ(Look({0.7, 0.71, 0.69}, 0, 1, 4).state, TrialState::kDrawMore);
  EXPECT_EQ(Look({0.7, 0.71, 0.69}, 0, 2, 12).reason, TrialReason::kMayLowerCorrectness);
  EXPECT_EQ(Look({-0.7, -0.71, -0.69}, 0, 0, 3).reason, TrialReason::kSlower);
  EXPECT_EQ(Look({0.0, 0.01, -0.02, 0.0, 0.0, 0.01}, 0, 0, 6).state, TrialState::kRefuse);
  EXPECT_EQ(Look({0.5, 0.9, -0.1}, 0, 0, 12).reason, TrialReason::kOutOfPairs);
  EXPECT_EQ(Look({9, 9}, 0, 0, 2).state, TrialState::kDrawMore) << "no look before three pairs";
}

TEST(SequentialRule, TasksAreComparedWithinThemselves) {
  // On task 1 everything is ten times as fast; the skill doubles on both.
  std::vector<SpeedSample> speeds;
  for (const double wobble : {0.0, 0.02, -0.02}) {
    speeds.push_back({0, true, std::log(2.0) + wobble});
    speeds.push_back({0, false, wobble});
    speeds.push_back({1, true, std::log(20.0) - wobble});
    speeds.push_back({1, false, std::log(10.0) + wobble});
  }
  speeds.push_back({2, true, std::log(1000.0)});  // no partner: says nothing
  PairedData data;
  data.speeds = speeds;
  data.num_pairs = 6;
  const TrialVerdict verdict = LookAt(data, std::log(1.05));
  EXPECT_EQ(verdict.reason, TrialReason::kFaster);
  EXPECT_NEAR(verdict.mean, std::log(2.0), 1e-9);
}

// The stated rates. A useless skill has no effect on speed or correctness.
TEST(SequentialRule, AUselessSkillEntersInAtMostFivePercent) {
  for (const double correct : {0.3, 0.5, 0.8, 1.0}) {
    for (const bool heavy_tails : {false, true}) {
      const SimulatedSkill useless{1.0, correct, correct};
      const auto outcome = Simulate(useless, 6000, 0.25, heavy_tails, /*min_uplift=*/1.0);
      EXPECT_LE(outcome.by_speed, 0.030) << correct << heavy_tails;
      EXPECT_LE(outcome.by_correctness, 0.027) << correct;
      EXPECT_LE(outcome.admitted, 0.05) << correct << heavy_tails;
      EXPECT_LE(Simulate(useless, 6000, 0.25, heavy_tails, 1.0, /*two_tasks=*/true).admitted, 0.05);
    }
  }
}

TEST(SequentialRule, ASkillThatLowersCorrectnessHardlyEntersHoweverFastItIs) {
  EXPECT_LE(Simulate({2.0, 0.8, 0.4}, 4000).admitted, 0.15);
  EXPECT_LE(Simulate({2.0, 0.8, 0.2}, 4000).admitted, 0.02);
  EXPECT_LE(Simulate({1.0, 0.8, 0.4}, 4000).admitted, 0.01);
  EXPECT_LE(Simulate({1.0, 0.5, 0.2}, 4000).admitted, 0.01);
}

TEST(SequentialRule, AHelpfulSkillIsFoundAtModestCorrectness) {
  EXPECT_GE(Simulate({2.0, 0.8, 0.8}, 4000).admitted, 0.75);
  EXPECT_GE(Simulate({2.0, 0.5, 0.5}, 4000).admitted, 0.55);
  EXPECT_GE(Simulate({1.0, 0.3, 0.8}, 4000).admitted, 0.40);
  EXPECT_LE(Simulate({2.0, 1.0, 1.0}, 4000).mean_pairs, 7.5) << "it stops when it is decided";
}

}  // namespace
}  // namespace davinci::agent
