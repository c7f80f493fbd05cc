#include "davinci/judge/stats/process_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "davinci/judge/stats/paired_ratio.h"

namespace davinci::judge {
namespace {

// A machine on which each process is faster or slower for life. On a loaded one a call that takes
// longer than is left of its slice is held up, and says so.
struct Machine {
  double process_log_sd = 0.05;
  double noise_log_sd = 0.02;
  double slice_seconds = 0;  // 0: nobody else is there
};

std::vector<PairedSample> Measure(std::mt19937_64* rng, double ratio, const Machine& machine,
                                  int processes, int num_pairs) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<double> life[2];
  for (auto& side : life)
    for (int i = 0; i < processes; ++i) side.push_back(machine.process_log_sd * normal(*rng));
  std::vector<PairedSample> pairs;
  for (int i = 0; i < num_pairs; ++i) {
    const int turn = i / 2;
    PairedSample pair;
    pair.baseline_process = turn % processes;
    pair.candidate_process = (turn + turn / processes) % processes;
    const auto call = [&](double seconds, double log_life, bool* clean, double* least) {
      seconds *= std::exp(log_life + machine.noise_log_sd * normal(*rng));
      *least = seconds;
      *clean = machine.slice_seconds <= 0 || seconds < machine.slice_seconds * uniform(*rng);
      return *clean ? seconds : seconds + machine.slice_seconds * (1 + 3 * uniform(*rng));
    };
    pair.baseline_seconds = call(3e-3, life[0][static_cast<size_t>(pair.baseline_process)],
                                 &pair.baseline_clean, &pair.baseline_least_seconds);
    pair.candidate_seconds =
        call(3e-3 / ratio, life[1][static_cast<size_t>(pair.candidate_process)],
             &pair.candidate_clean, &pair.candidate_least_seconds);
    pairs.push_back(pair);
  }
  return pairs;
}

PairedRatio Ratio(const std::vector<PairedSample>& pairs) {
  PairedRatioOptions options;
  options.between_process_log_sd = 0.006;
  return *ComputePairedRatio(pairs, options);
}

TEST(ProcessRatio, CoversOneWhereProcessesDiffer) {
  std::mt19937_64 rng(1);
  constexpr int kTimes = 2000;
  int covered = 0;
  int significant = 0;
  for (int i = 0; i < kTimes; ++i) {
    const PairedRatio ratio = Ratio(Measure(&rng, 1, {}, 4, 16));
    covered += ratio.low <= 1 && 1 <= ratio.high;
    significant += ratio.significant;
  }
  EXPECT_GE(covered, 0.93 * kTimes);
  EXPECT_LE(significant, 0.002 * kTimes);
}

TEST(ProcessRatio, OnePairOfProcessesDoesNot) {
  std::mt19937_64 rng(2);
  int significant = 0;
  for (int i = 0; i < 200; ++i) significant += Ratio(Measure(&rng, 1, {}, 1, 16)).significant;
  EXPECT_GT(significant, 40) << "what several processes are for";
}

TEST(ProcessRatio, ThreeTimesAsFastIsSignificant) {
  std::mt19937_64 rng(3);
  const PairedRatio ratio = Ratio(Measure(&rng, 3, {}, 4, 16));
  EXPECT_TRUE(ratio.significant);
  EXPECT_GT(ratio.decided_low, 1.8);
  EXPECT_LE(ratio.decided_low, ratio.low);
  EXPECT_GE(ratio.decided_high, ratio.high);
}

// The shorter kernel fits between two preemptions, the longer one hardly does: as they come, the
// medians differ by far more than the kernels.
TEST(ProcessRatio, LoadDoesNotFavourTheShorterKernel) {
  std::mt19937_64 rng(4);
  Machine loaded;
  loaded.slice_seconds = 4e-3;
  constexpr int kTimes = 300;
  int covered = 0;
  double mean = 0;
  for (int i = 0; i < kTimes; ++i) {
    const PairedRatio ratio = Ratio(Measure(&rng, 3, loaded, 4, 60));
    EXPECT_TRUE(ratio.apart || ratio.inconclusive);
    covered += ratio.low <= 3 && 3 <= ratio.high;
    if (!ratio.inconclusive) mean += std::log(ratio.median / 3) / kTimes;
  }
  EXPECT_GE(covered, 0.93 * kTimes);
  EXPECT_NEAR(mean, 0, 0.02);
}

TEST(ProcessRatio, WithoutUndisturbedCallsNothingIsSignificant) {
  std::mt19937_64 rng(5);
  Machine loaded;
  loaded.slice_seconds = 1e-4;
  const PairedRatio ratio = Ratio(Measure(&rng, 3, loaded, 4, 40));
  EXPECT_TRUE(ratio.inconclusive);
  EXPECT_FALSE(ratio.significant);
  EXPECT_LE(ratio.low, 3);
  EXPECT_GE(ratio.high, 3);
}

}  // namespace
}  // namespace davinci::judge
