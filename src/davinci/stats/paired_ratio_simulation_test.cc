// Does the interval keep its promise on noise like the real one? Seeded simulations, printed and
// bounded.
//
// A call takes true_time * drift * lognormal noise, and now and then it is preempted. Drift: a sine
// over the run of +-10 % plus a linear 10 %. Noise: 3 % on the log scale. Spikes: 4 % of the calls
// take 1.2 to 4 times as long. The candidate's process has a constant offset, log-normal, that no
// number of pairs removes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/stopping_criterion.h"

namespace davinci::stats {
namespace {

// Sanitizers make the arithmetic ten times slower and have nothing to find in its repetition.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kShorten = 5;
#else
constexpr int kShorten = 1;
#endif

struct Noise {
  double log_sd = 0.03;
  double spike_rate = 0.04;
  double drift = 0.1;
  double process_log_sd = 0;
  double place = 0;  // by which the second call of a pair takes longer
};

class Machine {
 public:
  Machine(uint64_t seed, double ratio, const Noise& noise)
      : rng_(seed),
        noise_(noise),
        candidate_(1e-3 / ratio * std::exp(noise.process_log_sd * normal_(rng_))),
        phase_(6.28 * uniform_(rng_)) {}

  // The next pair, baseline first in even pairs.
  PairedSample Next() {
    PairedSample pair;
    if (count_++ % 2 == 0) {
      pair.baseline_seconds = Call(1e-3);
      pair.candidate_seconds = Call(candidate_) * (1 + noise_.place);
    } else {
      pair.candidate_seconds = Call(candidate_);
      pair.baseline_seconds = Call(1e-3) * (1 + noise_.place);
    }
    return pair;
  }

 private:
  double Call(double seconds) {
    time_ += 1;
    const double drift =
        1 + noise_.drift * std::sin(phase_ + time_ / 23) + noise_.drift * time_ / 200;
    const double spike = uniform_(rng_) < noise_.spike_rate ? 1.2 + 2.8 * uniform_(rng_) : 1.0;
    return seconds * drift * spike * std::exp(noise_.log_sd * normal_(rng_));
  }

  std::mt19937_64 rng_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  Noise noise_;
  double candidate_;
  double phase_;
  double time_ = 0;
  int count_ = 0;
};

PairedRatio Measure(uint64_t seed, double ratio, const Noise& noise, int pairs_wanted,
                    double process_log_sd_known, int pairs_per_block = 2) {
  Machine machine(seed, ratio, noise);
  std::vector<PairedSample> pairs;
  for (int i = 0; i < pairs_wanted; ++i) pairs.push_back(machine.Next());
  const auto r = ComputePairedRatio(pairs, {.num_resamples = 1000,
                                            .pairs_per_block = pairs_per_block,
                                            .between_process_log_sd = process_log_sd_known});
  EXPECT_TRUE(r.ok());
  return *r;
}

TEST(PairedRatioSimulation, TheIntervalCoversTheTruthWithDriftAndSpikes) {
  constexpr int kRuns = 1500 / kShorten;
  for (const int num_pairs : {4, 6, 8, 12, 20, 40, 100}) {
    int covered = 0;
    double width = 0;
    for (int run = 0; run < kRuns; ++run) {
      const PairedRatio r = Measure(1000 + run, 1.3, {}, num_pairs, 0);
      covered += r.low <= 1.3 && 1.3 <= r.high;
      width += RelativeHalfWidth(r) / kRuns;
    }
    std::printf("coverage with %3d pairs: %.1f %%, mean half width %.2f %%\n", num_pairs,
                100.0 * covered / kRuns, 100 * width);
    EXPECT_GE(covered, kRuns * 93 / 100) << num_pairs;
  }
}

// The second place of a pair is 2 % slower, as nothing cancels it there.
TEST(PairedRatioSimulation, SinglePairsCoverTheTruthAndFindNoDifferenceInNoise) {
  constexpr int kRuns = 2000 / std::min(kShorten, 2);
  const Noise noise = {.place = 0.02};
  for (const int num_pairs : {6, 8, 12, 20}) {
    int covered = 0;
    int significant = 0;
    double width = 0;
    for (int run = 0; run < kRuns; ++run) {
      const PairedRatio r = Measure(400000 + run, 1.3, noise, num_pairs, 0, 1);
      covered += r.low <= 1.3 && 1.3 <= r.high;
      width += RelativeHalfWidth(r) / kRuns;
      significant += Measure(500000 + run, 1.0, noise, num_pairs, 0, 1).significant;
    }
    std::printf("single pairs, %d: coverage %.1f %%, mean half width %.2f %%, A/A %d of %d\n",
                num_pairs, 100.0 * covered / kRuns, 100 * width, significant, kRuns);
    EXPECT_GE(covered, kRuns * 93 / 100) << num_pairs;
    EXPECT_LE(significant, kRuns / 1000) << num_pairs;
  }
}

TEST(PairedRatioSimulation, CoversWithProcessOffsetsWhenTheirSpreadIsKnown) {
  constexpr int kRuns = 1500 / kShorten;
  int covered = 0;
  for (int run = 0; run < kRuns; ++run) {
    const PairedRatio r = Measure(50000 + run, 1.3, {.process_log_sd = 0.01}, 40, 0.01);
    covered += r.low <= 1.3 && 1.3 <= r.high;
  }
  std::printf("coverage with process offsets: %.1f %%\n", 100.0 * covered / kRuns);
  EXPECT_GE(covered, kRuns * 93 / 100);
}

// Stopping when the interval looks tight enough must not cost the coverage.
TEST(PairedRatioSimulation, AdaptiveStoppingKeepsTheCoverage) {
  constexpr int kRuns = 800 / kShorten;
  StoppingOptions options;
  options.target_relative_half_width = 0.015;
  options.ratio.num_resamples = 500;
  const auto plan = PlanMeasurement(1e-3, options);
  ASSERT_TRUE(plan.ok());
  int covered = 0;
  double pairs_used = 0;
  for (int run = 0; run < kRuns; ++run) {
    Machine machine(90000 + run, 1.3, {});
    StoppingCriterion criterion(*plan, options);
    std::vector<PairedSample> pairs;
    for (;;) {
      pairs.push_back(machine.Next());
      const auto decision = criterion.Look(pairs, 0);
      ASSERT_TRUE(decision.ok());
      if (!decision->stop()) continue;
      covered += decision->ratio->low <= 1.3 && 1.3 <= decision->ratio->high;
      break;
    }
    pairs_used += static_cast<double>(pairs.size()) / kRuns;
  }
  std::printf("adaptive: coverage %.1f %%, mean pairs %.1f\n", 100.0 * covered / kRuns, pairs_used);
  EXPECT_GE(covered, kRuns * 93 / 100);
}

// The cpu target: processes differ by 4 %, and sampling ends where it makes 0.55 of the interval.
TEST(PairedRatioSimulation, EndingAtAShareOfTheWidthKeepsTheCoverage) {
  constexpr int kRuns = 400 / kShorten;
  StoppingOptions options;
  options.target_relative_half_width = 0.02;
  options.sampling_share_of_width = 0.55;
  options.min_pairs = 10;
  options.max_pairs = 100;
  options.ratio.num_resamples = 500;
  options.ratio.between_process_log_sd = 0.04;
  const auto plan = PlanMeasurement(1e-3, options);
  ASSERT_TRUE(plan.ok());
  const Noise noise = {.log_sd = 0.1, .process_log_sd = 0.04, .place = 0.1};
  for (const double truth : {1.0, 1.3}) {
    int covered = 0;
    int significant = 0;
    double pairs_used = 0;
    for (int run = 0; run < kRuns; ++run) {
      Machine machine(600000 + run, truth, noise);
      StoppingCriterion criterion(*plan, options);
      std::vector<PairedSample> pairs;
      for (bool ended = false; !ended;) {
        pairs.push_back(machine.Next());
        const auto decision = criterion.Look(pairs, 0);
        ASSERT_TRUE(decision.ok());
        ended = decision->stop();
        if (!ended) continue;
        covered += decision->ratio->low <= truth && truth <= decision->ratio->high;
        significant += decision->ratio->significant;
      }
      pairs_used += static_cast<double>(pairs.size()) / kRuns;
    }
    std::printf("to a share, %.1f: coverage %.1f %%, significant %d of %d, mean pairs %.1f\n",
                truth, 100.0 * covered / kRuns, significant, kRuns, pairs_used);
    EXPECT_GE(covered, kRuns * 93 / 100);
    EXPECT_LE(significant, truth == 1.0 ? kRuns / 1000 : kRuns);
  }
}

// Of 1,000 comparisons of a kernel with itself at most 1 reports a significant difference
// of more than 2 %.
TEST(PairedRatioSimulation, AKernelIsNotFasterThanItself) {
  constexpr int kRuns = 3000 / std::min(kShorten, 3);
  struct Setting {
    double actual, known;
    int pairs;
  };
  // Also with a spread between processes that the judge underestimates (known 0 or half of it).
  for (const Setting s : {Setting{0, 0, 12}, Setting{0, 0, 40}, Setting{0.005, 0, 40},
                          Setting{0.01, 0.01, 40}, Setting{0.01, 0.005, 12}}) {
    int significant = 0;
    for (int run = 0; run < kRuns; ++run) {
      const PairedRatio r =
          Measure(200000 + run, 1.0, {.process_log_sd = s.actual}, s.pairs, s.known);
      significant += r.significant && std::abs(r.median - 1) > 0.02;
    }
    std::printf("A/A: %d of %d significant (process sd %.3f, known %.3f, %d pairs)\n", significant,
                kRuns, s.actual, s.known, s.pairs);
    EXPECT_LE(significant, kRuns / 1000);
  }
}

TEST(PairedRatioSimulation, ARealTenPercentIsFound) {
  constexpr int kRuns = 500 / kShorten;
  for (const int num_pairs : {12, 20, 40}) {
    int faster = 0, slower = 0;
    for (int run = 0; run < kRuns; ++run) {
      faster += Measure(300000 + run, 1.1, {}, num_pairs, 0.005).low > 1.02;
      slower += Measure(310000 + run, 1 / 1.1, {}, num_pairs, 0.005).high < 0.98;
    }
    std::printf("power at 10 %%, %d pairs: faster %.1f %%, slower %.1f %%\n", num_pairs,
                100.0 * faster / kRuns, 100.0 * slower / kRuns);
    const int wanted_percent = num_pairs >= 40 ? 95 : num_pairs >= 20 ? 75 : 50;
    EXPECT_GE(faster, kRuns * wanted_percent / 100);
    EXPECT_GE(slower, kRuns * wanted_percent / 100);
  }
}

}  // namespace
}  // namespace davinci::stats
