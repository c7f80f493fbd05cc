#include "davinci/score/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "davinci/base/rng.h"
#include "davinci/score/test_support.h"

namespace davinci::score {
namespace {

const MetricComparison& Find(const RunComparison& comparison, std::string_view key) {
  for (const MetricComparison& metric : comparison.metrics)
    if (metric.key == key) return metric;
  ADD_FAILURE() << "no metric " << key;
  static const MetricComparison kNone;
  return kNone;
}

TEST(SignTest, HandComputed) {
  EXPECT_EQ(SignTest(0, 0), 1);
  EXPECT_NEAR(SignTest(5, 0), 2. / 32, 1e-12);
  EXPECT_NEAR(SignTest(1, 4), 2. * (1 + 5) / 32, 1e-12);
  EXPECT_EQ(SignTest(3, 3), 1);
  EXPECT_NEAR(SignTest(2000, 1000), SignTest(1000, 2000), 1e-15);
  EXPECT_GT(SignTest(2000, 1000), 0);
}

TEST(SignFlipTest, HandComputed) {
  EXPECT_EQ(SignFlipTest({}), 1);
  EXPECT_EQ(SignFlipTest(std::vector<double>{0, 0}), 1);
  EXPECT_EQ(SignFlipTest(std::vector<double>{1, 1, 1}), 2. / 8);
  // |sum| >= 2 of ±1 ±2 ±3 with observed 1 + 2 - 3 = 0: always.
  EXPECT_EQ(SignFlipTest(std::vector<double>{1, 2, -3}), 1);
  // Sums 6, 4, 2, 0, … : |sum| >= 4 in 4 of 8.
  EXPECT_EQ(SignFlipTest(std::vector<double>{-1, 2, 3}), 4. / 8);
}

TEST(SignFlipTest, ExactAndSampledAgree) {
  SplitMix64 rng(5);
  std::vector<double> few;
  for (int i = 0; i < 20; ++i) few.push_back(rng.Uniform() - 0.35);
  std::vector<double> many = few;
  many.push_back(1e-9);  // one more that cannot matter pushes it over to sampling
  EXPECT_NEAR(SignFlipTest(few), SignFlipTest(many), 0.01);
}

TEST(SignFlipTest, RejectsAsOftenAsItShouldWhenNothingDiffers) {
  SplitMix64 rng(9);
  int rejected = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> differences;
    for (int i = 0; i < 10; ++i) differences.push_back(rng.Uniform() - 0.5);
    rejected += SignFlipTest(differences) <= 0.05 ? 1 : 0;
  }
  EXPECT_LT(rejected, 0.07 * kRounds);
  EXPECT_GT(rejected, 0.03 * kRounds);
}

TEST(Compare, ARunAgainstItselfDiffersInNothing) {
  ScoreInput run;
  for (int i = 0; i < 8; ++i) AddSpeedups(&run, std::to_string(i), {i % 3 ? 1.0 + 0.1 * i : -1});
  const RunComparison comparison = CompareRuns(run, run, *ProtocolByName("bench").value());
  EXPECT_EQ(comparison.num_common, 8);
  for (const MetricComparison& metric : comparison.metrics) {
    EXPECT_EQ(metric.better + metric.worse, 0) << metric.key;
    EXPECT_EQ(metric.sign_p, 1);
    EXPECT_EQ(metric.permutation_p, 1);
    EXPECT_EQ(metric.difference.value, metric.scale == Scale::kGeometric ? 1 : 0) << metric.key;
  }
}

TEST(Compare, ACommonFactorIsFoundAndForeignTasksAreCounted) {
  ScoreInput first;
  ScoreInput second;
  for (int i = 0; i < 10; ++i) {
    AddSpeedups(&first, std::to_string(i), {1 + 0.2 * i});
    AddSpeedups(&second, std::to_string(i), {1.5 * (1 + 0.2 * i)});
  }
  AddSpeedups(&first, "only first", {9.0});
  AddSpeedups(&second, "only second", {9.0});
  AddSpeedups(&second, "only second too", {-1});
  const RunComparison comparison = CompareRuns(first, second, *ProtocolByName("bench").value());
  EXPECT_EQ(comparison.num_common, 10);
  EXPECT_EQ(comparison.only_first, 1);
  EXPECT_EQ(comparison.only_second, 2);
  const MetricComparison& geomean = Find(comparison, "geomean/best turn");
  EXPECT_NEAR(geomean.difference.value, 1.5, 1e-12);
  EXPECT_FALSE(geomean.difference.low);  // the same factor everywhere: no spread was seen
  EXPECT_NEAR(geomean.second / geomean.first, 1.5, 1e-12);
  EXPECT_EQ(geomean.better, 10);
  EXPECT_NEAR(geomean.sign_p, 2. / 1024, 1e-12);
  EXPECT_NEAR(geomean.permutation_p, 2. / 1024, 1e-12);
  EXPECT_EQ(Find(comparison, "correct/best turn").difference.value, 0);
  EXPECT_EQ(ToJson(comparison)["metrics"]["geomean/best turn"]["is_ratio"], true);
  EXPECT_NE(ComparisonTable(comparison).find("10 tasks in both runs"), std::string::npos);
}

ScoreInput RunOf(const std::vector<std::pair<std::string, double>>& codes_and_speedups,
                 double low_share = 0.9) {
  ScoreInput run;
  int task = 0;
  for (const auto& [code, speedup] : codes_and_speedups) {
    Turn turn = MakeTurn(speedup);
    turn.code_hash = code;
    if (turn.evaluation.speedup) turn.evaluation.speedup->low = low_share * speedup;
    AddSample(&run, std::to_string(task++), {turn});
  }
  return run;
}

TEST(Compare, TheSameCodeIsATieWhereModelsAreCompared) {
  // The clock made the same code of tasks 0 and 1 faster and slower; task 2 was rewritten.
  const ScoreInput first = RunOf({{"a", 1.0}, {"b", 1.5}, {"c", 1.0}}, 0.5);
  const ScoreInput second = RunOf({{"a", 1.2}, {"b", 1.4}, {"d", 2.0}}, 0.9);
  const Protocol& bench = *ProtocolByName("bench").value();
  const RunComparison judged_twice = CompareRuns(first, second, bench);
  EXPECT_FALSE(judged_twice.num_same_code);
  EXPECT_EQ(Find(judged_twice, "geomean/best turn").better, 2);
  EXPECT_EQ(Find(judged_twice, "geomean/best turn").worse, 1);

  const RunComparison one_verdict = CompareRuns(first, second, bench, SameCode::kOneVerdict);
  EXPECT_EQ(one_verdict.num_same_code, 2);
  const MetricComparison& geomean = Find(one_verdict, "geomean/best turn");
  EXPECT_EQ(geomean.better, 1);
  EXPECT_EQ(geomean.worse, 0);
  EXPECT_NEAR(geomean.difference.value, std::cbrt(2.0), 1e-12);
  // The narrower intervals are the second run's.
  EXPECT_NEAR(geomean.first, std::cbrt(1.2 * 1.4 * 1.0), 1e-12);
  EXPECT_NEAR(geomean.second, std::cbrt(1.2 * 1.4 * 2.0), 1e-12);
  EXPECT_EQ(ToJson(one_verdict)["same_code"], 2);
  EXPECT_NE(ComparisonTable(one_verdict).find("Same code in both runs for 2 of 3 tasks"),
            std::string::npos);
}

TEST(Compare, OfTheSameCodeJudgedRightAndWrongTheFirstVerdictCounts) {
  const RunComparison comparison =
      CompareRuns(RunOf({{"a", 1.5}, {"b", -1}}), RunOf({{"a", -1}, {"b", 1.5}}),
                  *ProtocolByName("bench").value(), SameCode::kOneVerdict);
  const MetricComparison& correct = Find(comparison, "correct/best turn");
  EXPECT_EQ(correct.better + correct.worse, 0);
  EXPECT_EQ(correct.first, 0.5);
  EXPECT_EQ(correct.second, 0.5);
}

TEST(Compare, VerdictsOfOtherProtocolsStayApart) {
  const ScoreInput first = RunOf({{"a", 1.0}});
  ScoreInput second = RunOf({{"a", 2.0}});
  second.trajectories[0].turns[0].evaluation.provenance["protocol"] = {{"name", "screening"}};
  const RunComparison comparison =
      CompareRuns(first, second, *ProtocolByName("bench").value(), SameCode::kOneVerdict);
  EXPECT_EQ(Find(comparison, "geomean/best turn").better, 1);
}

TEST(Compare, SwappingTheRunsSwapsTheSign) {
  SplitMix64 rng(21);
  ScoreInput first;
  ScoreInput second;
  for (int i = 0; i < 15; ++i) {
    AddSpeedups(&first, std::to_string(i), {3 * rng.Uniform() - 0.7});
    AddSpeedups(&second, std::to_string(i), {3 * rng.Uniform() - 0.7});
  }
  const Protocol& bench = *ProtocolByName("bench").value();
  const RunComparison there = CompareRuns(first, second, bench);
  const RunComparison back = CompareRuns(second, first, bench);
  for (size_t i = 0; i < there.metrics.size(); ++i) {
    EXPECT_EQ(there.metrics[i].better, back.metrics[i].worse);
    EXPECT_DOUBLE_EQ(there.metrics[i].sign_p, back.metrics[i].sign_p);
    EXPECT_DOUBLE_EQ(there.metrics[i].permutation_p, back.metrics[i].permutation_p);
  }
}

}  // namespace
}  // namespace davinci::score
