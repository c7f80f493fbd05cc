#include "davinci/stats/charges.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace davinci::stats {
namespace {

constexpr double kBand = 0.02;
constexpr double kCall = 1e-3;

// Twice as fast, ± 10 %; ± 20 % at 99.9 %.
PairedRatio Twice() {
  PairedRatio ratio;
  ratio.median = 2;
  ratio.low = 1.8;
  ratio.high = 2.2;
  ratio.decided_low = 1.6;
  ratio.decided_high = 2.4;
  ratio.significant = true;
  return ratio;
}

TEST(Charges, AreAddedToTheCallsOfTheirSide) {
  Charges charges;
  charges.arming = 1e-4;
  charges.windows = 2e-4;
  charges.host_pace.candidate_seconds = 4e-4;
  charges.host_pace.baseline_seconds = 8e-4;
  EXPECT_DOUBLE_EQ(charges.Total(), 7e-4);
  EXPECT_DOUBLE_EQ(charges.BaselineTotal(), 8e-4);
  std::vector<PairedSample> samples = {{kCall, 2 * kCall, 0}, {3 * kCall, 4 * kCall, 2}};
  Charge(charges, &samples);
  EXPECT_DOUBLE_EQ(samples[0].baseline_seconds, 1.8e-3);
  EXPECT_DOUBLE_EQ(samples[0].candidate_seconds, 2.7e-3);
  EXPECT_DOUBLE_EQ(samples[1].baseline_seconds, 3.8e-3);
  EXPECT_DOUBLE_EQ(samples[1].candidate_seconds, 4.7e-3);
  EXPECT_EQ(samples[1].launch, 2);
}

TEST(Charges, DoubtIsNoTime) {
  Charges charges;
  charges.arming_doubt = 1;
  charges.host_pace.ratio_log_sd = 1;
  charges.host_pace.with_one_pace = 2;
  EXPECT_EQ(charges.Total(), 0);
  EXPECT_EQ(charges.BaselineTotal(), 0);
}

TEST(Charges, WithoutAnyTheIntervalStays) {
  const PairedRatio ratio = WithDoubtOf({}, Twice(), kCall, kBand);
  EXPECT_EQ(ratio.low, 1.8);
  EXPECT_EQ(ratio.high, 2.2);
  EXPECT_TRUE(ratio.significant);
}

TEST(Charges, TheIntervalReachesToWhereNothingIsCharged) {
  for (double Charges::*charge : {&Charges::arming, &Charges::windows}) {
    Charges charges;
    charges.*charge = kCall / 2;
    const PairedRatio ratio = WithDoubtOf(charges, Twice(), kCall, kBand);
    EXPECT_DOUBLE_EQ(ratio.high, 4.4);
    EXPECT_DOUBLE_EQ(ratio.decided_high, 4.8);
    EXPECT_EQ(ratio.low, 1.8);
    EXPECT_EQ(ratio.median, 2);
  }
}

TEST(Charges, TheIntervalBeginsWhereAllThatNoiseMayHideIsCharged) {
  Charges charges;
  charges.arming_doubt = kCall;
  const PairedRatio ratio = WithDoubtOf(charges, Twice(), kCall, kBand);
  EXPECT_DOUBLE_EQ(ratio.low, 0.9);
  EXPECT_DOUBLE_EQ(ratio.decided_low, 0.8);
  EXPECT_EQ(ratio.high, 2.2);
  EXPECT_FALSE(ratio.significant);
}

TEST(Charges, PacesOfHostsAreAnErrorAndADoubt) {
  Charges charges;
  charges.host_pace.ratio_log_sd = 0.5;
  PairedRatio ratio = WithDoubtOf(charges, Twice(), kCall, kBand);
  EXPECT_LT(ratio.low, 1);
  EXPECT_GT(ratio.high, 4);
  EXPECT_FALSE(ratio.significant);
  charges = {};
  charges.host_pace.with_one_pace = 0.5;
  ratio = WithDoubtOf(charges, Twice(), kCall, kBand);
  EXPECT_DOUBLE_EQ(ratio.low, 0.9);
  EXPECT_EQ(ratio.high, 2.2);
}

}  // namespace
}  // namespace davinci::stats
