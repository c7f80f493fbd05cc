#include "davinci/score/held_out.h"

#include <gtest/gtest.h>

#include <cmath>

#include "davinci/score/comparison.h"
#include "davinci/score/test_support.h"

namespace davinci::score {
namespace {

TEST(HeldOut, TheGreedyRolloutAndTheBestSampleAreApartAndSplitsToo) {
  std::map<std::string, ScoreInput> splits;
  AddSpeedups(&splits["seen"], "a", {-1});   // greedy
  AddSpeedups(&splits["seen"], "a", {1.5});  // samples
  AddSpeedups(&splits["seen"], "a", {0.5, 3.0});
  AddSpeedups(&splits["unseen"], "b", {2.0, -1});
  AddSpeedups(&splits["unseen"], "b", {-1});
  AddSpeedups(&splits["unseen"], "b", {-1});
  const ScoreReport report = ScoreHeldOut(splits);
  ASSERT_EQ(report.sections.size(), 3u);
  EXPECT_EQ(report.sections[0].title, kAllSplits);
  EXPECT_EQ(ValueOf(report, "correct/greedy"), 0.5);
  EXPECT_EQ(ValueOf(report, "correct/best of 2"), 0.5);
  EXPECT_EQ(report.sections[1].title, "seen");
  EXPECT_EQ(ValueOf(report, "correct/greedy", 1), 0);
  EXPECT_EQ(ValueOf(report, "fast_1.2/best of 2", 1), 1);
  EXPECT_NEAR(ValueOf(report, "geomean/best of 2", 1), 3, 1e-12);
  EXPECT_EQ(ValueOf(report, "fast_1/greedy", 2), 1);
  EXPECT_EQ(ValueOf(report, "fast_1/best of 2", 2), 0);
}

// Skills that make a prompt too long cost the task.
TEST(HeldOut, APromptThatTheContextCannotHoldIsAWrongAnswer) {
  ScoreInput short_prompts;
  ScoreInput long_prompts;
  AddSpeedups(&short_prompts, "a", {2.0});
  AddSample(&long_prompts, "a", {});
  long_prompts.trajectories[0].end = TrajectoryEnd::kContext;
  const ScoreReport report = ScoreHeldOut({{"s", long_prompts}});
  EXPECT_EQ(ValueOf(report, "correct/greedy"), 0);
  const RunComparison compared = CompareRuns(short_prompts, long_prompts, HeldOutProtocol());
  EXPECT_EQ(compared.num_common, 1);
  EXPECT_EQ(compared.metrics.at(0).difference.value, -1);
}

// A median above 1 that may be noise, and a copy of PyTorch.
TEST(HeldOut, WhatIsNotSignificantIsNotFasterAndADecoyIsWrong) {
  std::map<std::string, ScoreInput> splits;
  Turn noisy = MakeTurn(1.3);
  noisy.evaluation.speedup->significant = false;
  AddSample(&splits["s"], "noisy", {noisy, MakeTurn(1.25)});
  Turn copy = MakeTurn(5);
  copy.language = Language::kPython;
  AddSample(&splits["s"], "decoy", {copy});
  const ScoreReport report = ScoreHeldOut(splits);
  EXPECT_EQ(ValueOf(report, "correct/greedy"), 0.5);
  EXPECT_EQ(ValueOf(report, "fast_1.2/greedy"), 0.5) << "the second turn is faster for sure";
  splits["s"].trajectories[0].turns.pop_back();
  EXPECT_EQ(ValueOf(ScoreHeldOut(splits), "fast_1/greedy"), 0);
}

TEST(HeldOut, TwoModelsAreComparedTaskByTask) {
  ScoreInput first;
  ScoreInput second;
  for (int task = 0; task < 12; ++task) {
    AddSpeedups(&first, std::to_string(task), {task % 2 == 0 ? 1.5 : -1});
    AddSpeedups(&second, std::to_string(task), {3.0});
  }
  const RunComparison comparison = CompareRuns(first, second, HeldOutProtocol());
  EXPECT_EQ(comparison.num_common, 12);
  const auto find = [&](const char* key) {
    for (const MetricComparison& metric : comparison.metrics)
      if (metric.key == key) return metric;
    return MetricComparison();
  };
  EXPECT_EQ(find("correct/greedy").difference.value, 0.5);
  EXPECT_GT(find("fast_1.2/greedy").difference.low.value_or(0), 0);
  EXPECT_LT(find("fast_1.2/greedy").permutation_p, 0.05);
  EXPECT_NEAR(find("geomean/greedy").difference.value, 2, 1e-12) << "of the tasks both solve";
}

}  // namespace
}  // namespace davinci::score
