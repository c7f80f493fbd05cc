// Golden vectors of the pure maths; the simulations are in paired_ratio_simulation_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "davinci/stats/clock_agreement.h"
#include "davinci/stats/occasional.h"
#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/roofline.h"
#include "davinci/stats/stopping_criterion.h"
#include "davinci/stats/summary.h"

namespace davinci::stats {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> values = {40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(Percentile(values, 0), 10);
  EXPECT_DOUBLE_EQ(Percentile(values, 1), 40);
  EXPECT_DOUBLE_EQ(Percentile(values, 0.5), 25);
  EXPECT_DOUBLE_EQ(Percentile(values, 0.9), 37);  // position 0.9 * 3 = 2.7 between 30 and 40
  EXPECT_TRUE(std::isnan(Percentile({}, 0.5)));
}

TEST(StudentT975, AgreesWithTheTables) {
  const std::vector<std::pair<int, double>> table = {{1, 12.706}, {2, 4.303},  {3, 3.182},
                                                     {5, 2.571},  {10, 2.228}, {100, 1.984}};
  for (const auto& [dof, quantile] : table)
    EXPECT_NEAR(StudentT975(dof), quantile, 0.002 * quantile) << dof;
}

TEST(StudentT9995, AgreesWithTheTables) {
  const std::vector<std::pair<int, double>> table = {{1, 636.619}, {2, 31.599}, {3, 12.924},
                                                     {4, 8.610},   {6, 5.959},  {10, 4.587},
                                                     {49, 3.500},  {100, 3.390}};
  for (const auto& [dof, quantile] : table)
    EXPECT_NEAR(StudentT9995(dof), quantile, 0.0005 * quantile) << dof;
}

TEST(ScaledMad, IgnoresAnOutlierAndEstimatesSigma) {
  // Median 3; deviations 2 1 0 1 997; their median is 1.
  const std::vector<double> values = {1, 2, 3, 4, 1000};
  EXPECT_NEAR(ScaledMad(values), 1.4826, 1e-4);
}

std::vector<PairedSample> Repeat(std::vector<PairedSample> block, int times) {
  std::vector<PairedSample> pairs;
  for (int i = 0; i < times; ++i) pairs.insert(pairs.end(), block.begin(), block.end());
  return pairs;
}

TEST(StandardError, ShrinksWithTheRootOfTheNumber) {
  EXPECT_TRUE(std::isnan(Mean({})));
  const std::vector<double> few = {1, 3};
  EXPECT_DOUBLE_EQ(Mean(few), 2);
  EXPECT_DOUBLE_EQ(StandardError(few), 1);  // deviation sqrt(2), over sqrt(2)
  EXPECT_DOUBLE_EQ(StandardError(std::vector<double>{7}), 0);
  std::vector<double> many;
  for (int k = 0; k < 50; ++k) many.insert(many.end(), few.begin(), few.end());
  EXPECT_NEAR(StandardError(many), 1 / std::sqrt(99), 1e-12);
  // Deviations from the median 2 are all 1.
  EXPECT_NEAR(MedianStandardError(many), 1.2533141 * 1.4826 / 10, 1e-4);
  many.push_back(1e9);
  EXPECT_LT(MedianStandardError(many), 0.4);
  EXPECT_GT(StandardError(many), 1e6);
  EXPECT_EQ(MedianStandardError({}), 0);
}

TEST(PairedRatio, IsBaselineOverCandidate) {
  const auto r = ComputePairedRatio(Repeat({{2.0, 1.0}, {2.0, 1.0}}, 10), {});
  ASSERT_TRUE(r.ok());
  EXPECT_DOUBLE_EQ(r->median, 2.0);
  EXPECT_DOUBLE_EQ(r->low, 2.0);
  EXPECT_DOUBLE_EQ(r->high, 2.0);
  EXPECT_TRUE(r->significant);
  EXPECT_EQ(r->n, 20);
}

TEST(PairedRatio, LinearDriftCancelsWithinABlock) {
  // Every call is 1 % slower than the one before it; A B B A gives log ratios -0.00995 and
  // +0.00995.
  std::vector<PairedSample> pairs;
  double t = 1e-3;
  const auto next = [&] { return t *= 1.01; };
  for (int i = 0; i < 8; ++i) {
    const double a1 = next(), b1 = next(), b2 = next(), a2 = next();
    pairs.push_back({a1, b1});
    pairs.push_back({a2, b2});
  }
  const auto r = ComputePairedRatio(pairs, {});
  EXPECT_NEAR(r->median, 1.0, 1e-12);
  EXPECT_NEAR(r->high - r->low, 0.0, 1e-12);
  EXPECT_FALSE(r->significant);
}

TEST(PairedRatio, PreemptedCallsDoNotMoveIt) {
  std::vector<PairedSample> pairs = Repeat({{1.1, 1.0}, {1.1, 1.0}}, 20);
  pairs[4].candidate_seconds = 50;
  pairs[11].baseline_seconds = 80;
  pairs[30].candidate_seconds = 9;
  const auto r = ComputePairedRatio(pairs, {});
  EXPECT_NEAR(r->median, 1.1, 1e-12);
  EXPECT_NEAR(r->low, 1.1, 1e-12);
  EXPECT_TRUE(r->significant);
}

TEST(PairedRatio, ANeighbourWhoHitsOneProcessIsNoSpeedup) {
  // One program twice; the baseline's threads shared a core in most of its calls.
  std::vector<PairedSample> pairs = Repeat({{12.0, 1.3}, {13.0, 1.3}}, 20);
  for (const size_t lucky : {3, 11, 19, 20, 31, 38}) pairs[lucky].baseline_seconds = 1.3;
  const auto r = ComputePairedRatio(pairs, {});
  EXPECT_NEAR(r->unsteadiness, 12.5 / 1.3, 0.5);
  EXPECT_FALSE(r->significant);
  EXPECT_LT(r->low, 1.0);
}

TEST(PairedRatio, ThirteenBlocksGiveTheThirdAndTheEleventh) {
  // m = 13: t_12 = 2.1788, times sqrt(13/12) = 2.268, tail 0.0117. The resampled median is at most
  // the k-th smallest value with probability P(Bin(13, k/13) >= 7): 0.0014 for k = 2, 0.016 for k
  // = 3. So the ends are the third from each side.
  std::vector<PairedSample> pairs;
  for (int i = -6; i <= 6; ++i) {
    const double ratio = std::exp(0.01 * i);
    pairs.push_back({ratio, 1});
    pairs.push_back({ratio, 1});
  }
  const auto r = ComputePairedRatio(pairs, {.num_resamples = 20000});
  EXPECT_NEAR(std::log(r->median), 0, 1e-12);
  EXPECT_NEAR(std::log(r->low), -0.04, 1e-9);
  EXPECT_NEAR(std::log(r->high), 0.04, 1e-9);
  const auto wider = ComputePairedRatio(pairs, {.num_resamples = 20000, .half_width_factor = 1.5});
  EXPECT_NEAR(std::log(wider->high), 0.06, 1e-9);
}

TEST(PairedRatio, SixToElevenBlocksAreAtLeastARobustStudentInterval) {
  // Seven log ratios -0.03 .. 0.03: MAD 0.02, half width t_6 * 1.2533 * 1.4826 * 0.02 / sqrt 7
  // = 2.4469 * 0.014047 = 0.03437, wider than the extremes, which is what the bootstrap gives.
  std::vector<PairedSample> pairs;
  for (int i = -3; i <= 3; ++i) pairs.insert(pairs.end(), 2, {std::exp(0.01 * i), 1});
  const auto r = ComputePairedRatio(pairs, {});
  EXPECT_NEAR(std::log(r->low), -0.03437, 2e-5);
  EXPECT_NEAR(std::log(r->high), 0.03437, 2e-5);
}

TEST(PairedRatio, BetweenProcessSpreadAddsInQuadrature) {
  // No spread within: the half width is 1.96 * 0.01 on the log scale.
  const auto r =
      ComputePairedRatio(Repeat({{1.0, 1.0}, {1.0, 1.0}}, 10), {.between_process_log_sd = 0.01});
  EXPECT_NEAR(std::log(r->high), 0.0196, 1e-4);
  EXPECT_NEAR(std::log(r->low), -0.0196, 1e-4);
}

TEST(PairedRatio, SeveralLaunchesNarrowWhatIsAssumedOfThem) {
  // Three launches that agree, sd 0.1 assumed: sqrt(8 * 0.01 / 10) = 0.08944; of a median of three
  // 1.2533 * 0.08944 / sqrt 3 = 0.06472.
  std::vector<PairedSample> pairs;
  for (int i = 0; i < 24; ++i) pairs.push_back({2, 1, i / 2 % 3});
  const PairedRatioOptions options{.between_process_log_sd = 0.1};
  const auto agree = ComputePairedRatio(pairs, options);
  EXPECT_NEAR(std::log(agree->high / 2), 1.959964 * 0.06472, 1e-4);
  for (PairedSample& pair : pairs) pair.launch = 0;
  EXPECT_NEAR(std::log(ComputePairedRatio(pairs, options)->high / 2), 1.959964 * 0.1, 1e-4);
}

TEST(PairedRatio, LaunchesThatDifferByMoreThanAssumedWidenTheInterval) {
  // Log ratios -0.2, 0 and 0.2 of three launches, 0.01 assumed: (8 * 0.0001 + 0.08) / 10 = 0.00808,
  // its root 0.08989; of a median of three 0.06504.
  std::vector<PairedSample> pairs;
  for (int i = 0; i < 60; ++i) pairs.push_back({std::exp(0.2 * (i / 2 % 3 - 1)), 1, i / 2 % 3});
  const auto ratio = ComputePairedRatio(pairs, {.between_process_log_sd = 0.01});
  EXPECT_NEAR(ratio->median, 1, 1e-12);
  ASSERT_EQ(ratio->launches.size(), 3U);
  for (int launch = 0; launch < 3; ++launch)
    EXPECT_NEAR(std::log(ratio->launches[static_cast<size_t>(launch)]), 0.2 * (launch - 1), 1e-12);
  EXPECT_GT(std::log(ratio->high), 1.959964 * 0.06504);
  // The blocks alone would show a fifth of it as noise of the median.
  EXPECT_FALSE(ratio->significant);
}

TEST(PairedRatio, SecondsBetweenProcessesMatterToShortCalls) {
  // 25 us on calls of 0.2 ms and 0.1 ms: hypot(0.125, 0.25) = 0.2795 in the log.
  const PairedRatioOptions options{.between_process_seconds = 25e-6};
  const auto brief = ComputePairedRatio(Repeat({{2e-4, 1e-4}, {2e-4, 1e-4}}, 20), options);
  EXPECT_NEAR(std::log(brief->high / brief->median), 1.959964 * 0.2795, 1e-3);
  EXPECT_FALSE(brief->significant);
  const auto long_calls = ComputePairedRatio(Repeat({{2e-2, 1e-2}, {2e-2, 1e-2}}, 20), options);
  EXPECT_NEAR(std::log(long_calls->high / long_calls->median), 1.959964 * 0.002795, 1e-5);
  EXPECT_TRUE(long_calls->significant);
  EXPECT_FALSE(ComputePairedRatio(Repeat({{1, 1}}, 4), {.between_process_seconds = -1}).ok());
}

TEST(PairedRatio, EachKernelOfACallVariesBetweenProcesses) {
  PairedRatioOptions options{.between_process_seconds = 1e-6, .baseline_kernels = 4};
  const auto same = ComputePairedRatio(Repeat({{4e-5, 4e-5}}, 40), options);
  EXPECT_NEAR(std::log(same->high), 1.959964 * std::sqrt(2.0) * 2 / 40, 1e-6);
  // A quarter of the time, so one launch.
  const auto fused = ComputePairedRatio(Repeat({{4e-5, 1e-5}}, 40), options);
  EXPECT_NEAR(std::log(fused->high / fused->median), 1.959964 * std::hypot(2.0 / 40, 1.0 / 10),
              1e-6);
  options.baseline_kernels = 0;
  EXPECT_FALSE(ComputePairedRatio(Repeat({{1, 1}}, 4), options).ok());
}

TEST(PairedRatio, FewBlocksUseStudentAndOneBlockIsUnbounded) {
  const std::vector<PairedSample> two = {{1.00, 1}, {1.00, 1}, {1.02, 1}, {1.02, 1}};
  const auto r = ComputePairedRatio(two, {});
  // Two values log 1, log 1.02: half width 12.706 * sd / sqrt 2 = 12.706 * log(1.02) / 2.
  const double half = 12.7062 * std::log(1.02) / 2;
  EXPECT_NEAR(std::log(r->high), std::log(1.02) / 2 + half, 1e-5);
  const auto one = ComputePairedRatio(std::vector<PairedSample>{{2, 1}, {2, 1}, {9, 1}}, {});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->n, 2);
  EXPECT_EQ(one->low, 0);
  EXPECT_EQ(one->high, kInf);
  EXPECT_FALSE(one->significant);
  EXPECT_EQ(RelativeHalfWidth(*one), kInf);
}

TEST(PairedRatio, SignificanceNeedsTheWholeIntervalOutsideTheBand) {
  EXPECT_FALSE(ComputePairedRatio(Repeat({{1.019, 1}, {1.019, 1}}, 10), {})->significant);
  EXPECT_TRUE(ComputePairedRatio(Repeat({{1.021, 1}, {1.021, 1}}, 10), {})->significant);
  EXPECT_TRUE(ComputePairedRatio(Repeat({{0.97, 1}, {0.97, 1}}, 10), {})->significant);
  EXPECT_FALSE(
      ComputePairedRatio(Repeat({{1.03, 1}, {1.03, 1}}, 10), {.between_process_log_sd = 0.01})
          ->significant);
}

TEST(PairedRatio, TheDecidedIntervalIsTheOneThatSignificanceIsReadFrom) {
  for (const double speedup : {0.9, 0.97, 1.0, 1.02, 1.05, 1.2})
    for (const double between : {0.0, 0.01, 0.04}) {
      PairedRatioOptions options;
      options.between_process_log_sd = between;
      const auto r = ComputePairedRatio(Repeat({{speedup, 1}, {1.01 * speedup, 1}}, 10), options);
      ASSERT_TRUE(r.ok());
      EXPECT_LE(r->decided_low, r->low);
      EXPECT_GE(r->decided_high, r->high);
      EXPECT_EQ(r->significant, r->decided_low > 1.02 || r->decided_high < 0.98);
    }
}

TEST(PairedRatio, BoundsOfDisturbedCallsDecide) {
  const PairedRatio read{.median = 2,
                         .low = 1.9,
                         .high = 2.1,
                         .decided_low = 1.8,
                         .decided_high = 2.2,
                         .significant = true};
  const PairedRatio slowest{
      .median = 0.9, .low = 0.8, .high = 1, .decided_low = 0.7, .decided_high = 1.1};
  const PairedRatio fastest{
      .median = 5, .low = 4, .high = 6, .decided_low = 3, .decided_high = 7, .significant = true};
  const PairedRatio all = WithBounds(read, slowest, fastest, 0.02);
  EXPECT_EQ(all.median, 2);
  EXPECT_EQ(all.low, 0.8);
  EXPECT_EQ(all.decided_high, 7);
  EXPECT_FALSE(all.significant);
  EXPECT_TRUE(WithBounds(read, read, fastest, 0.02).significant) << "faster whatever the load did";
}

TEST(PairedRatio, OneInTwentyIsNoProof) {
  // Seven blocks around 1.25 with a spread that a 95 % interval clears 1.02 with and a 99.9 % one
  // not.
  std::vector<PairedSample> pairs;
  for (const double ratio : {1.05, 1.12, 1.2, 1.25, 1.3, 1.4, 1.5})
    pairs.insert(pairs.end(), 2, {ratio, 1});
  const auto r = ComputePairedRatio(pairs, {});
  ASSERT_TRUE(r.ok());
  EXPECT_GT(r->low, 1.02);
  EXPECT_FALSE(r->significant);
}

TEST(PairedRatio, TheSameSeedGivesTheSameBits) {
  std::vector<PairedSample> pairs;
  for (int i = 0; i < 40; ++i) pairs.push_back({1 + 0.01 * ((i * 7) % 13), 1});
  const auto a = ComputePairedRatio(pairs, {.seed = 5});
  const auto b = ComputePairedRatio(pairs, {.seed = 5});
  EXPECT_EQ(a->low, b->low);
  EXPECT_EQ(a->high, b->high);
}

TEST(PairedRatio, RefusesWhatIsNoTime) {
  for (const double bad : {0.0, -1.0, kNan, kInf}) {
    EXPECT_FALSE(ComputePairedRatio(std::vector<PairedSample>{{1, 1}, {1, bad}}, {}).ok()) << bad;
    EXPECT_FALSE(ComputePairedRatio(std::vector<PairedSample>{{bad, 1}, {1, 1}}, {}).ok()) << bad;
  }
  EXPECT_FALSE(ComputePairedRatio(std::vector<PairedSample>{{1, 1}}, {}).ok());
  EXPECT_FALSE(ComputePairedRatio(Repeat({{1, 1}}, 4), {.between_process_log_sd = -1}).ok());
}

TEST(PairedRatio, UnevenCallsCountWithTheirAverage) {
  const PairedRatio measured{.median = 3,
                             .low = 2.9,
                             .high = 3.1,
                             .decided_low = 2.8,
                             .decided_high = 3.2,
                             .significant = true};
  const PairedRatio paid = AtAverage(measured, 1.2, 0.02);
  EXPECT_DOUBLE_EQ(paid.median, 1.2);
  EXPECT_DOUBLE_EQ(paid.low, 1.2);
  EXPECT_DOUBLE_EQ(paid.high, 3.1);
  EXPECT_TRUE(paid.significant);
  EXPECT_FALSE(AtAverage(measured, 1.01, 0.02).significant) << "within the band";
  EXPECT_FALSE(AtAverage(measured, 0.9, 0.02).significant) << "neither faster nor slower";
}

PairedRatio TwiceAsFast() {
  return {.median = 2,
          .low = 1.9,
          .high = 2.1,
          .decided_low = 1.8,
          .decided_high = 2.2,
          .significant = true};
}

TEST(PairedRatio, WhatIsChargedWidensItToWhereNothingIs) {
  const PairedRatio slower{.median = 0.7,
                           .low = 0.65,
                           .high = 0.75,
                           .decided_low = 0.62,
                           .decided_high = 0.78,
                           .significant = true};
  const PairedRatio doubtful = WithDoubtfulCharge(slower, 2e-3, 1e-3, 0.02);
  EXPECT_DOUBLE_EQ(doubtful.low, 0.65);
  EXPECT_DOUBLE_EQ(doubtful.high, 1.5) << "half of the call is charged";
  EXPECT_FALSE(doubtful.significant);
  EXPECT_TRUE(WithDoubtfulCharge(slower, 2e-3, 1e-4, 0.02).significant);
  EXPECT_TRUE(WithDoubtfulCharge(TwiceAsFast(), 2e-3, 1e-3, 0.02).significant)
      << "with all of it charged";
}

TEST(PairedRatio, WhatNoiseMayHideLetsItBeginLower) {
  const PairedRatio doubtful = WithCostlierCalls(TwiceAsFast(), 1e-3, 1e-3, 0.02);
  EXPECT_DOUBLE_EQ(doubtful.low, 0.95);
  EXPECT_DOUBLE_EQ(doubtful.median, 2);
  EXPECT_FALSE(doubtful.significant);
  EXPECT_TRUE(WithCostlierCalls(TwiceAsFast(), 1e-3, 1e-4, 0.02).significant);
}

TEST(PairedRatio, ADoubtReachesToOneSide) {
  EXPECT_DOUBLE_EQ(WithDoubt(TwiceAsFast(), 1.5, 0.02).decided_high, 3.3);
  EXPECT_DOUBLE_EQ(WithDoubt(TwiceAsFast(), 1.5, 0.02).low, 1.9);
  EXPECT_DOUBLE_EQ(WithDoubt(TwiceAsFast(), 0.5, 0.02).decided_low, 0.9);
  EXPECT_FALSE(WithDoubt(TwiceAsFast(), 0.5, 0.02).significant);
}

TEST(PairedRatio, AnErrorOfBothTimesWidensItToBothSides) {
  const PairedRatio doubtful = WithError(TwiceAsFast(), 0.3, 0.02);
  EXPECT_NEAR(doubtful.low, 2 / std::exp(std::hypot(std::log(2 / 1.9), 1.96 * 0.3)), 1e-4);
  EXPECT_NEAR(doubtful.high, 2 * std::exp(std::hypot(std::log(2.1 / 2), 1.96 * 0.3)), 1e-4);
  EXPECT_DOUBLE_EQ(doubtful.median, 2);
  EXPECT_FALSE(doubtful.significant);
  EXPECT_TRUE(WithError(TwiceAsFast(), 0.05, 0.02).significant);
}

TEST(Occasional, TakesAFifthOfTheTimeAtMost) {
  Occasional task;
  EXPECT_TRUE(task.Fits(0)) << "the first time it is due, whatever it costs";
  task.Took(1);
  EXPECT_FALSE(task.Fits(9.9)) << "another second would be more than a fifth";
  EXPECT_TRUE(task.Fits(10));
  task.Took(3);
  EXPECT_FALSE(task.Fits(34.9)) << "the next one may take as long as the longest";
  EXPECT_TRUE(task.Fits(35));
  EXPECT_DOUBLE_EQ(task.total_seconds(), 4);
}

TEST(PlanMeasurement, CountsComeFromTheBaselinesCost) {
  StoppingOptions options;
  options.min_pairs = 11;
  options.max_pairs = 200;
  options.budget_seconds = 5;
  auto plan = PlanMeasurement(1e-3, options);  // 2500 pairs would fit
  EXPECT_EQ(plan->min_pairs, 12);
  EXPECT_EQ(plan->max_pairs, 200);
  EXPECT_EQ(plan->warmup_calls, 10);
  plan = PlanMeasurement(0.1, options);  // 25 fit
  EXPECT_EQ(plan->max_pairs, 24);
  EXPECT_EQ(plan->warmup_calls, 1);
  plan = PlanMeasurement(10.0, options);  // none fits; the hard minimum stands
  EXPECT_EQ(plan->max_pairs, kHardMinPairs);
  EXPECT_EQ(plan->min_pairs, kHardMinPairs);
  options.per_call_overhead_seconds = 0.099;
  plan = PlanMeasurement(1e-3, options);
  EXPECT_EQ(plan->max_pairs, 24);
  EXPECT_FALSE(PlanMeasurement(0, options).ok());
  EXPECT_FALSE(PlanMeasurement(kNan, options).ok());
  options.max_pairs = 4;
  EXPECT_FALSE(PlanMeasurement(1, options).ok());
}

TEST(StoppingCriterion, StopsWhenPreciseButNotBeforeTheMinimumOrWithinABlock) {
  StoppingOptions options;
  const auto plan = PlanMeasurement(1e-3, options);
  StoppingCriterion criterion(*plan, options);
  std::vector<PairedSample> pairs;
  for (int n = 1; n <= 12; ++n) {
    pairs.push_back({1.5e-3, 1e-3});
    const auto decision = criterion.Look(pairs, n * 1e-3);
    ASSERT_TRUE(decision.ok());
    EXPECT_EQ(decision->stop(), n == 12) << n;
    if (n == 12) {
      EXPECT_EQ(decision->reason, StopReason::kPrecise);
      EXPECT_DOUBLE_EQ(decision->ratio->median, 1.5);
    }
  }
}

std::vector<PairedSample> Noisy(int n, double ratio) {
  std::vector<PairedSample> pairs;
  for (int i = 0; i < n; ++i) pairs.push_back({ratio * (1 + 0.3 * ((i / 2 * 5) % 7 - 3) / 3), 1});
  return pairs;
}

TEST(StoppingCriterion, NoiseRunsIntoTheMaximumOrTheBudget) {
  StoppingOptions options;
  options.max_pairs = 20;
  const auto plan = PlanMeasurement(1e-3, options);
  StoppingCriterion criterion(*plan, options);
  EXPECT_EQ(criterion.Look(Noisy(16, 1.0), 0.1)->reason, StopReason::kContinue);
  EXPECT_EQ(criterion.Look(Noisy(20, 1.0), 0.1)->reason, StopReason::kMaxPairs);
  StoppingCriterion slow(*plan, options);
  EXPECT_EQ(slow.Look(Noisy(11, 0.01), 6.0)->reason, StopReason::kContinue);
  const auto decision = slow.Look(Noisy(12, 0.01), 6.0);
  EXPECT_EQ(decision->reason, StopReason::kBudget);
  EXPECT_TRUE(decision->ratio.has_value());
}

TEST(StoppingCriterion, AnIntervalSmallBesideTheEffectIsPreciseEnough) {
  StoppingOptions options;
  options.target_relative_half_width = 0.02;
  const auto plan = PlanMeasurement(1e-3, options);
  const auto reason = [&](double ratio, double of_effect) {
    options.target_of_effect = of_effect;
    StoppingCriterion criterion(*plan, options);
    return criterion.Look(Noisy(24, ratio), 0.1)->reason;
  };
  EXPECT_EQ(reason(8, 0), StopReason::kContinue);
  EXPECT_EQ(reason(8, 0.2), StopReason::kPrecise);
  EXPECT_EQ(reason(1 / 8.0, 0.2), StopReason::kPrecise);
  EXPECT_EQ(reason(1.01, 0.2), StopReason::kContinue);
}

TEST(StoppingCriterion, EndsWhereProcessesDifferByMoreThanPairsCouldTell) {
  // Calls of 0.2 ms, processes that differ by 25 us: an interval of +-30 % at best.
  StoppingOptions options;
  options.sampling_share_of_width = 0.5;
  options.target_relative_half_width = 0.001;
  options.ratio.between_process_seconds = 25e-6;
  const auto plan = PlanMeasurement(2e-4, options);
  ASSERT_TRUE(plan.ok());
  const auto reason = [&](double speedup, double noise) {
    std::vector<PairedSample> pairs = Noisy(12, noise);
    for (PairedSample& pair : pairs) {
      pair.baseline_seconds *= 2e-4 * speedup;
      pair.candidate_seconds *= 2e-4;
    }
    return StoppingCriterion(*plan, options).Look(pairs, 0.01)->reason;
  };
  EXPECT_EQ(reason(1, 0.02), StopReason::kNothingToGain);
  EXPECT_EQ(reason(1, 0.4), StopReason::kContinue) << "more pairs would narrow it";
  EXPECT_EQ(reason(1.2, 0.02), StopReason::kNothingToGain) << "never to be significant";
  EXPECT_EQ(reason(1.635, 0.02), StopReason::kNothingToGain) << "not beyond the band";
  EXPECT_EQ(reason(5, 0.02), StopReason::kNothingToGain) << "significant already";
  options.sampling_share_of_width = 0;
  EXPECT_EQ(reason(1, 0.02), StopReason::kContinue);
}

TEST(StoppingCriterion, LooksGrowApart) {
  StoppingOptions options;
  const auto plan = PlanMeasurement(1e-3, options);
  StoppingCriterion criterion(*plan, options);
  std::vector<int> looks;
  for (int n = 2; n <= 60; n += 2) {
    const auto decision = criterion.Look(Noisy(n, 1.0), 0.01);
    if (decision->ratio.has_value()) looks.push_back(n);
  }
  EXPECT_EQ(looks, (std::vector<int>{12, 16, 20, 24, 30, 36, 44, 54}));
}

TEST(StoppingCriterion, ScreeningEndsEarlyForTheClearlySlow) {
  StoppingOptions options;
  options.clearly_slow_below = 0.8;
  const auto plan = PlanMeasurement(1e-3, options);
  StoppingCriterion criterion(*plan, options);
  EXPECT_EQ(criterion.Look(Noisy(12, 0.3), 0.1)->reason, StopReason::kClearlySlow);
}

TEST(StoppingCriterion, TheBudgetDoesNotUndercutTheMinimum) {
  StoppingOptions options;
  options.min_pairs = 6;
  options.max_pairs = 20;
  options.budget_seconds = 0.25;
  const auto plan = PlanMeasurement(1e-3, options);
  ASSERT_EQ(plan->min_pairs, 6);
  StoppingCriterion criterion(*plan, options);
  // Two pairs are one block, whose interval has no upper end: no verdict rests on it.
  EXPECT_FALSE(criterion.Look(Noisy(2, 1.0), 0.3)->stop());
  EXPECT_FALSE(criterion.Look(Noisy(4, 1.0), 0.6)->stop());
  const auto decision = criterion.Look(Noisy(6, 1.0), 0.9);
  EXPECT_EQ(decision->reason, StopReason::kBudget);
  EXPECT_TRUE(std::isfinite(decision->ratio->high));
}

TEST(StoppingCriterion, FarOverTheBudgetTwoBlocksAreEnoughAndTheIntervalHasTwoEnds) {
  StoppingOptions options;
  options.budget_seconds = 0.25;
  const auto plan = PlanMeasurement(1e-3, options);
  StoppingCriterion criterion(*plan, options);
  EXPECT_FALSE(criterion.Look(Noisy(2, 1.0), 100)->stop());
  const auto decision = criterion.Look(Noisy(4, 1.0), 200);
  EXPECT_EQ(decision->reason, StopReason::kBudget);
  EXPECT_TRUE(std::isfinite(decision->ratio->high));
  EXPECT_GT(decision->ratio->low, 0);
}

TEST(ClockAgreement, FivePercentAndFiveMicroseconds) {
  const auto check = [](double a, double b) {
    return CheckClockAgreement(std::vector<ClockReading>{{"wall", a}, {"events", b}})->agree;
  };
  EXPECT_TRUE(check(1e-3, 1.05e-3));   // differs by 50 us, allowed 52.5 + 5
  EXPECT_FALSE(check(1e-3, 1.07e-3));  // 70 us, allowed 58.5
  EXPECT_TRUE(check(2e-6, 6e-6));      // 4 us, allowed 5.3
  EXPECT_FALSE(check(1e-6, 8e-6));     // 7 us, allowed 5.4
}

TEST(ClockAgreement, OneSidedClocksMayFallShortButNotExceed) {
  const auto check = [](double other, ClockRelation relation) {
    return CheckClockAgreement(
               std::vector<ClockReading>{{"wall", 1e-3}, {"other", other, relation}})
        ->agree;
  };
  EXPECT_TRUE(check(1e-4, ClockRelation::kAtMost));
  EXPECT_TRUE(check(0, ClockRelation::kAtMost));
  EXPECT_FALSE(check(2e-3, ClockRelation::kAtMost));
  EXPECT_TRUE(check(2e-3, ClockRelation::kAtLeast));
  EXPECT_FALSE(check(1e-4, ClockRelation::kAtLeast));
}

TEST(ClockAgreement, NamesTheWorstPairAndKnowsOverhead) {
  const auto r = CheckClockAgreement(
      std::vector<ClockReading>{{"supervisor", 1.01e-3, ClockRelation::kEqual, 10e-6},
                                {"events", 1.0e-3},
                                {"trace", 2.0e-3}});
  ASSERT_TRUE(r.ok());
  EXPECT_FALSE(r->agree);
  ASSERT_EQ(r->disagreements.size(), 2u);
  EXPECT_EQ(r->disagreements[0].second, "trace");
  EXPECT_NEAR(r->disagreements[0].difference_seconds, 1e-3, 1e-9);
  EXPECT_NEAR(r->disagreements[0].allowed_seconds, 105e-6, 1e-9);
  EXPECT_NE(r->evidence.find("trace differ by 1 ms, allowed 105 us"), std::string::npos)
      << r->evidence;
}

TEST(ClockAgreement, WhatIsNoTimeIsInvalidNeverFast) {
  for (const double bad : {0.0, -1e-3, kNan, kInf}) {
    const auto r = CheckClockAgreement(std::vector<ClockReading>{{"wall", 1e-3}, {"events", bad}});
    EXPECT_FALSE(r->agree) << bad;
    EXPECT_EQ(r->invalid, std::vector<std::string>{"events"}) << bad;
  }
  EXPECT_FALSE(CheckClockAgreement(std::vector<ClockReading>{{"wall", 1.0}}).ok());
}

TEST(Roofline, AttainableMovesPairsAtTheCopyRate) {
  const AttainableRates rates{
      .read_bytes = 4e12, .write_bytes = 2e12, .copy_bytes = 1e12, .flops = 1e14};
  // 1 GB in and out: 2 GB at the copy rate.
  auto r = ComputeAttainable({.read_bytes = 1e9, .written_bytes = 1e9, .flops = 1e11}, rates);
  EXPECT_NEAR(r->seconds, 2e-3, 1e-12);
  EXPECT_TRUE(r->memory_bound);
  // 2 GB more to read, or to write: at that rate.
  EXPECT_NEAR(ComputeAttainable({.read_bytes = 3e9, .written_bytes = 1e9}, rates)->seconds, 2.5e-3,
              1e-12);
  EXPECT_NEAR(ComputeAttainable({.read_bytes = 1e9, .written_bytes = 3e9}, rates)->seconds, 3e-3,
              1e-12);
  r = ComputeAttainable({.read_bytes = 1e9, .written_bytes = 1e9, .flops = 1e12}, rates);
  EXPECT_NEAR(r->seconds, 1e-2, 1e-12);
  EXPECT_FALSE(r->memory_bound);
}

TEST(Roofline, ImpossibleIsTheSlowerOfMemoryAndCompute) {
  const DevicePeaks peaks{.bytes_per_second = 1e12, .flops_per_second = 1e14, .cache_bytes = 50e6};
  // 2 GB in, 1 GB out of which 50 MB may stay in the cache: 2.95 ms. 1e11 flops: 1 ms.
  auto r = ComputeImpossible({.read_bytes = 2e9, .written_bytes = 1e9, .flops = 1e11}, peaks);
  EXPECT_NEAR(r->memory_seconds, 2.95e-3, 1e-9);
  EXPECT_NEAR(r->compute_seconds, 1e-3, 1e-9);
  EXPECT_NEAR(r->seconds, 2.95e-3, 1e-9);
  EXPECT_TRUE(r->memory_bound);
  r = ComputeImpossible({.read_bytes = 1e6, .written_bytes = 1e6, .flops = 1e12}, peaks);
  EXPECT_NEAR(r->seconds, 1e-2, 1e-9);
  EXPECT_FALSE(r->memory_bound);
}

TEST(Roofline, RefusesWorkAndRatesThatAreNone) {
  const AttainableRates rates{.read_bytes = 1, .write_bytes = 1, .copy_bytes = 1};
  EXPECT_FALSE(ComputeImpossible({.read_bytes = 1}, {}).ok());
  EXPECT_FALSE(ComputeImpossible({.read_bytes = -1}, {.bytes_per_second = 1}).ok());
  EXPECT_FALSE(ComputeAttainable({.read_bytes = 1}, {}).ok());
  EXPECT_FALSE(ComputeAttainable({.read_bytes = kNan}, rates).ok());
  EXPECT_FALSE(ComputeAttainable({.flops = 1}, rates).ok());
  EXPECT_TRUE(ComputeAttainable({.read_bytes = 1}, rates).ok());
}

}  // namespace
}  // namespace davinci::stats
