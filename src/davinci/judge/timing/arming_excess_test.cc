#include "davinci/judge/timing/arming_excess.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace davinci::judge {
namespace {

constexpr int64_t kCallNs = 1'000'000;
constexpr int kPairs = 20;

Job JobOn(Target target) {
  Job job;
  job.task = std::make_shared<task::Task>();
  job.target = target;
  return job;
}

// A trial on paper: pairs whose candidate needs so much longer to be armed than the baseline.
class ArmingExcessTest : public testing::Test {
 protected:
  void Measure(Trial* trial, int64_t excess_ns) {
    trial->report.evidence.clocks.emplace();
    for (int i = 0; i < kPairs; ++i) {
      TimedPair pair;
      pair.candidate.wall_ns = pair.baseline.wall_ns = kCallNs;
      pair.baseline.arming = {10'000, 12'000, 10'000, 15'000};
      pair.candidate.arming = pair.baseline.arming;
      for (int64_t Arming::*spent :
           {&Arming::answered_ns, &Arming::stopped_ns, &Arming::main_cpu_ns, &Arming::wall_ns})
        pair.candidate.arming.*spent += excess_ns;
      trial->pairs.record.push_back(std::move(pair));
    }
  }
  JudgeContext context_;
  Protocol protocol_;
  Job on_cpu_ = JobOn(Target::kCpu);
  Job on_cuda_ = JobOn(Target::kCuda);
};

TEST_F(ArmingExcessTest, ArmingAsLongAsTheBaselineCostsNothing) {
  Trial trial(context_, on_cpu_, protocol_);
  Measure(&trial, 0);
  ChargeArming(trial);
  EXPECT_EQ(trial.charges.record.arming, 0);
  EXPECT_EQ(trial.charges.record.arming_doubt, 0);
}

TEST_F(ArmingExcessTest, WorkWhileArmingIsChargedButForAFreePart) {
  Trial trial(context_, on_cpu_, protocol_);
  Measure(&trial, 500'000);
  ChargeArming(trial);
  // 30 µs and 2 % of a call are free.
  EXPECT_NEAR(trial.charges.record.arming, 5e-4 - 3e-5 - 0.02 * 1e-3, 1e-9);
}

TEST_F(ArmingExcessTest, WhatNoiseMayHideIsDoubted) {
  Trial trial(context_, on_cpu_, protocol_);
  Measure(&trial, 0);
  for (int i = 0; i < kPairs; ++i)  // 20 to 180 µs
    trial.pairs.record[static_cast<size_t>(i)].candidate.arming.wall_ns +=
        20'000 + 40'000 * (i % 5);
  ChargeArming(trial);
  EXPECT_GT(trial.charges.record.arming_doubt, 1e-5);
  EXPECT_GT(trial.charges.record.arming, 1e-5);
  EXPECT_NEAR(trial.charges.record.arming + trial.charges.record.arming_doubt,
              1e-4 - 3e-5 - 0.02 * 1e-3, 1e-9);
}

TEST_F(ArmingExcessTest, WakingMoreThreadsExcusesWhatItCosts) {
  Trial trial(context_, on_cpu_, protocol_);
  Measure(&trial, 500'000);
  trial.waking = {5e-4, 5e-4, 5e-4};
  ChargeArming(trial);
  EXPECT_EQ(trial.charges.record.arming, 0);
}

TEST_F(ArmingExcessTest, OnADeviceTheSameIsRefused) {
  Trial trial(context_, on_cuda_, protocol_);
  Measure(&trial, 500'000);
  const auto failure = CheckArming(trial, 1e-9 * kCallNs);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::kInvalidTiming);
  EXPECT_NEAR(trial.report.evidence.clocks->arm_excess_ms, 0.5, 1e-6);
}

TEST_F(ArmingExcessTest, OnACpuNothingIsRefused) {
  Trial trial(context_, on_cpu_, protocol_);
  Measure(&trial, 5'000'000);
  EXPECT_FALSE(CheckArming(trial, 1e-9 * kCallNs));
}

}  // namespace
}  // namespace davinci::judge
