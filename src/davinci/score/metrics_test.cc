#include "davinci/score/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "davinci/base/rng.h"
#include "davinci/score/test_support.h"

namespace davinci::score {
namespace {

TEST(PassAtK, HandComputed) {
  EXPECT_DOUBLE_EQ(PassAtKEstimate(1, 1, 1), 1);
  EXPECT_DOUBLE_EQ(PassAtKEstimate(4, 1, 1), 0.25);
  EXPECT_DOUBLE_EQ(PassAtKEstimate(4, 1, 2), 0.5);             // 1 - C(3,2)/C(4,2)
  EXPECT_DOUBLE_EQ(PassAtKEstimate(5, 2, 3), 0.9);             // 1 - C(3,3)/C(5,3)
  EXPECT_DOUBLE_EQ(PassAtKEstimate(10, 3, 5), 1 - 21. / 252);  // C(7,5) / C(10,5)
  EXPECT_DOUBLE_EQ(PassAtKEstimate(8, 0, 8), 0);
  EXPECT_DOUBLE_EQ(PassAtKEstimate(8, 6, 3), 1);  // only two fail, three are drawn
}

TEST(PassAtK, GrowsWithKAndWithEverySuccessAndStaysARate) {
  for (int n = 1; n <= 40; ++n) {
    for (int c = 0; c <= n; ++c) {
      for (int k = 1; k <= n; ++k) {
        const double p = PassAtKEstimate(n, c, k);
        ASSERT_GE(p, 0);
        ASSERT_LE(p, 1);
        if (k > 1) {
          ASSERT_GE(p, PassAtKEstimate(n, c, k - 1) - 1e-12);
        }
        if (c > 0) {
          ASSERT_GE(p, PassAtKEstimate(n, c - 1, k) - 1e-12);
        }
        if (k == 1) {
          ASSERT_NEAR(p, static_cast<double>(c) / n, 1e-12);
        }
        if (k == n) {
          ASSERT_EQ(p, c > 0 ? 1 : 0);
        }
      }
    }
  }
}

TEST(ExpectedBest, HandComputedAndBetweenMeanAndMaximum) {
  EXPECT_DOUBLE_EQ(ExpectedBestOf({3, 1, 2}, 1), 2);
  EXPECT_DOUBLE_EQ(ExpectedBestOf({3, 1, 2}, 2), (2 + 3 + 3) / 3.);
  EXPECT_DOUBLE_EQ(ExpectedBestOf({3, 1, 2}, 3), 3);
  SplitMix64 rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values(1 + rng.Below(12));
    for (double& value : values) value = rng.Uniform();
    double before = 0;
    for (int k = 1; k <= std::ssize(values); ++k) {
      const double best = ExpectedBestOf(values, k);
      ASSERT_GE(best, before - 1e-12);
      before = best;
    }
    ASSERT_NEAR(before, *std::max_element(values.begin(), values.end()), 1e-12);
  }
}

TEST(ExpectedBest, OfOnesAndZerosIsPassAtK) {
  for (int n = 1; n <= 12; ++n) {
    for (int c = 0; c <= n; ++c) {
      std::vector<double> values(static_cast<size_t>(n), 0);
      std::fill_n(values.begin(), c, 1);
      for (int k = 1; k <= n; ++k)
        ASSERT_NEAR(ExpectedBestOf(values, k), PassAtKEstimate(n, c, k), 1e-12);
    }
  }
}

TEST(FastP, GreaterAndAtLeastDifferExactlyAtP) {
  ScoreInput input;
  AddSpeedups(&input, "a", {1.0});
  AddSpeedups(&input, "b", {1.5});
  AddSpeedups(&input, "c", {0});  // correct, untimed
  AddSpeedups(&input, "d", {-1});
  const ScoreReport report = ScoreAs(input, "bench");
  EXPECT_EQ(ValueOf(report, "correct/best turn"), 0.75);
  EXPECT_EQ(ValueOf(report, "fast_0/best turn"), 0.5);
  EXPECT_EQ(ValueOf(report, "fast_0_ge/best turn"), 0.75);
  EXPECT_EQ(ValueOf(report, "fast_1/best turn"), 0.25);
  EXPECT_EQ(ValueOf(report, "fast_1_ge/best turn"), 0.5);
  EXPECT_EQ(ValueOf(report, "fast_1.5/best turn"), 0);
  EXPECT_EQ(ValueOf(report, "fast_1.5_ge/best turn"), 0.25);
  EXPECT_NEAR(ValueOf(report, "geomean/best turn"), std::sqrt(1.5), 1e-12);
  EXPECT_EQ(ValueOf(report, "mean_speedup/best turn"), 2.5 / 4);
}

TEST(FastP, FallsAsPGrowsAndNeverExceedsCorrectness) {
  SplitMix64 rng(11);
  for (int round = 0; round < 20; ++round) {
    ScoreInput input;
    for (int task = 0; task < 6; ++task)
      for (int sample = 0; sample < 4; ++sample)
        AddSpeedups(&input, std::to_string(task),
                    {rng.Uniform() < 0.4 ? -1 : 4 * rng.Uniform(), 4 * rng.Uniform() - 1});
    const ScoreReport report = ScoreAs(input, "bench");
    for (const char* reading : {"/best turn", "/last turn"}) {
      double before = ValueOf(report, std::string("correct") + reading);
      for (const char* p : {"0", "0.5", "0.8", "1", "1.2", "1.5", "2", "3"}) {
        const double strict = ValueOf(report, std::string("fast_") + p + reading);
        ASSERT_LE(strict, before);
        ASSERT_LE(strict, ValueOf(report, std::string("fast_") + p + "_ge" + reading));
        before = strict;
      }
    }
    // More turns to choose from can only help.
    ASSERT_LE(ValueOf(report, "fast_1/best by turn 1"), ValueOf(report, "fast_1/best by turn 2"));
    ASSERT_LE(ValueOf(report, "fast_1/last turn"), ValueOf(report, "fast_1/best turn"));
  }
}

TEST(BestByTurn, AWorseLaterTurnTakesNothingAwayAndLastTurnDoes) {
  ScoreInput input;
  AddSpeedups(&input, "a", {1.5, 3.0, -1});
  const ScoreReport report = ScoreAs(input, "bench");
  EXPECT_DOUBLE_EQ(ValueOf(report, "geomean/best by turn 1"), 1.5);
  EXPECT_DOUBLE_EQ(ValueOf(report, "geomean/best by turn 3"), 3.0);
  EXPECT_EQ(ValueOf(report, "correct/last turn"), 0);
  EXPECT_TRUE(std::isnan(ValueOf(report, "geomean/last turn")));
}

TEST(Score, ShortTrajectoriesKeepTheirAnswerInLaterTurns) {
  ScoreInput input;
  AddSpeedups(&input, "a", {2.0});
  AddSpeedups(&input, "b", {-1, -1, 2.0});
  const ScoreReport report = ScoreAs(input, "bench");
  EXPECT_EQ(ValueOf(report, "correct/best by turn 2"), 0.5);
  EXPECT_EQ(ValueOf(report, "correct/best by turn 3"), 1);
  EXPECT_EQ(ValueOf(report, "correct/last turn"), 1);
}

TEST(Score, WhatTheJudgeCouldNotJudgeCountsForNobody) {
  ScoreInput input;
  Turn unjudged = MakeTurn(-1);
  unjudged.evaluation.outcome = Outcome::kJudgeError;
  AddSample(&input, "a", {MakeTurn(2.0), unjudged});
  AddSample(&input, "b", {unjudged});
  const ScoreReport report = ScoreAs(input, "bench");
  EXPECT_EQ(report.sections[0].num_tasks, 1);
  EXPECT_EQ(ValueOf(report, "correct/last turn"), 1);
  std::string notes;
  for (const std::string& note : report.notes) notes += note + "\n";
  EXPECT_NE(notes.find("1 samples are left out"), std::string::npos) << notes;
  EXPECT_NE(notes.find("1 tasks have no judged sample"), std::string::npos) << notes;
}

TEST(Score, AVerdictWithAnObjectionIsNotCorrect) {
  ScoreInput input;
  Turn turn = MakeTurn(9.0);
  turn.evaluation.outcome = Outcome::kInvalidTiming;
  turn.evaluation.correct = true;
  AddSample(&input, "a", {turn});
  turn = MakeTurn(0);
  turn.evaluation.outcome = Outcome::kCompileOnly;
  AddSample(&input, "b", {turn});
  const ScoreReport report = ScoreAs(input, "bench");
  EXPECT_EQ(ValueOf(report, "correct/best turn"), 0.5);
  EXPECT_EQ(ValueOf(report, "fast_0/best turn"), 0);
}

TEST(Score, SaysHowManyWrongFirstAnswersALaterTurnMends) {
  ScoreInput input;
  Turn wrong = MakeTurn(0);
  wrong.evaluation.outcome = Outcome::kMismatch;
  wrong.evaluation.correct = false;
  AddSample(&input, "mended", {wrong, MakeTurn(2.0)});
  AddSample(&input, "not mended", {wrong, wrong});
  AddSample(&input, "ended", {wrong});
  AddSample(&input, "right at once", {MakeTurn(2.0), wrong});
  EXPECT_NEAR(ValueOf(ScoreAs(input, "bench"), "correct/first answer wrong"), 1.0 / 3, 1e-12);
}

TEST(Score, LevelsGetTheirOwnColumns) {
  ScoreInput input;
  AddSpeedups(&input, "a", {2.0}, 1);
  AddSpeedups(&input, "b", {-1}, 1);
  AddSpeedups(&input, "c", {2.0}, 3);
  const ScoreReport report = ScoreAs(input, "bench");
  ASSERT_EQ(report.sections.size(), 3u);
  EXPECT_EQ(report.sections[1].title, "level 1");
  EXPECT_EQ(ValueOf(report, "correct/best turn", 1), 0.5);
  EXPECT_EQ(ValueOf(report, "correct/best turn", 2), 1);
  EXPECT_EQ(report.sections[2].level, 3);
}

TEST(Score, AnEmptyLogHasNoMetricsAndStillPrints) {
  ScoreInput input;
  input.levels["a"] = 1;
  for (const Protocol& protocol : Protocols()) {
    const ScoreReport report = Score(input, protocol);
    EXPECT_TRUE(report.sections.front().metrics.empty());
    EXPECT_FALSE(ScoreTable(report).empty());
    EXPECT_EQ(ToJson(report)["schema"], "davinci.score/1");
  }
}

TEST(Estimate, OneTaskHasNoIntervalAndUnanimityHasTheExactOne) {
  const std::vector<Contribution> one = {{1, 1}};
  EXPECT_FALSE(EstimateOver(one, Scale::kRate)->low);
  const std::vector<Contribution> ones(10, {1, 1});
  EXPECT_NEAR(*EstimateOver(ones, Scale::kRate)->low, 0.6915, 1e-4);  // Clopper-Pearson, 10 of 10
  const std::vector<Contribution> zeros(10, {0, 1});
  EXPECT_NEAR(*EstimateOver(zeros, Scale::kRate)->high, 0.3085, 1e-4);
  EXPECT_FALSE(EstimateOver({}, Scale::kRate));
  const std::vector<Contribution> halves = {{1, 2}, {2, 4}, {0.5, 1}};
  EXPECT_EQ(EstimateOver(halves, Scale::kRate)->value, 0.5);
  EXPECT_FALSE(EstimateOver(halves, Scale::kRate)->low);
}

TEST(Estimate, SamplesOfATaskSpreadTheIntervalToo) {
  // Ten tasks with the same rate of 1/2 over two samples each: tasks agree, samples do not.
  ScoreInput input;
  for (int task = 0; task < 10; ++task) {
    AddSpeedups(&input, std::string(1, static_cast<char>('a' + task)), {2.0});
    AddSpeedups(&input, std::string(1, static_cast<char>('a' + task)), {-1});
  }
  const ScoreReport ten = ScoreAs(input, "drkernel");
  const MetricValue* correct = FindMetric(ten.sections[0], "correct/last turn");
  ASSERT_NE(correct, nullptr);
  ASSERT_TRUE(correct->estimate.low);
  EXPECT_LT(*correct->estimate.low, 0.45);
  EXPECT_GT(*correct->estimate.high, 0.55);
  // One task has an interval over its samples.
  ScoreInput one;
  for (int i = 0; i < 8; ++i) AddSpeedups(&one, "a", {i < 4 ? 2.0 : -1});
  const ScoreReport report = ScoreAs(one, "drkernel");
  EXPECT_TRUE(FindMetric(report.sections[0], "correct/last turn")->estimate.low);
}

TEST(Estimate, TheIntervalCoversTheTruthAsOftenAsItSays) {
  // 12 tasks with rates from {0, 0.25, …, 1}, truth 0.5: 95 % of intervals should cover it.
  SplitMix64 rng(3);
  int covered = 0;
  constexpr int kRounds = 1000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Contribution> tasks;
    for (int i = 0; i < 12; ++i) tasks.push_back({0.25 * static_cast<double>(rng.Below(5)), 1});
    const Estimate e = *EstimateOver(tasks, Scale::kRate, {rng.Next(), 500});
    covered += *e.low <= 0.5 && 0.5 <= *e.high ? 1 : 0;
  }
  EXPECT_GE(covered, 0.93 * kRounds);
  EXPECT_LE(covered, 0.985 * kRounds);
}

TEST(ScoreTable, HidesAtLeastRowsThatSayTheSame) {
  ScoreInput input;
  AddSpeedups(&input, "a", {1.7});
  AddSpeedups(&input, "b", {2.0});
  const std::string table = ScoreTable(ScoreAs(input, "bench"));
  EXPECT_EQ(table.find("fast_1 (≥)"), std::string::npos);
  EXPECT_NE(table.find("fast_2 (≥)"), std::string::npos);
  EXPECT_NE(table.find("is the same wherever it is not listed"), std::string::npos);
}

}  // namespace
}  // namespace davinci::score
