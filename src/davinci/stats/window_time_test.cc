#include "davinci/stats/window_time.h"

#include <gtest/gtest.h>

namespace davinci::stats {
namespace {

TEST(WindowTime, IsWhatTheCallsAdd) {
  const WindowReading readings[] = {{1280e-6, 1100e-6}, {1276e-6, 1104e-6}, {1284e-6, 1102e-6}};
  const double empty = EmptySeconds(readings);
  EXPECT_DOUBLE_EQ(empty, 1102e-6);
  const auto seconds = CallSeconds(readings, 16, empty);
  ASSERT_EQ(seconds.size(), 3U);
  EXPECT_NEAR(seconds[0], 11.125e-6, 1e-12);
  EXPECT_NEAR(seconds[1], 10.875e-6, 1e-12);
}

TEST(WindowTime, WindowsWithoutAnEmptyOneAreHeldAgainstThoseOfOthers) {
  const WindowReading readings[] = {
      {1280e-6, 1100e-6}, {1276e-6, std::nullopt}, {1284e-6, 1104e-6}, {1272e-6, std::nullopt}};
  const double empty = EmptySeconds(readings);
  EXPECT_DOUBLE_EQ(empty, 1102e-6);
  EXPECT_NEAR(CallSeconds(readings, 16, empty)[3], 10.625e-6, 1e-12);
  const WindowReading none[] = {{1280e-6, std::nullopt}};
  EXPECT_EQ(EmptySeconds(none), 0);
}

TEST(WindowTime, WhatTheFirstCallTakesLongerShowsInWindowsOfOneCallAndOfSeveral) {
  // Calls of 40 us, 130 us more for the first; an empty window of several flushes takes longer.
  const std::vector<WindowReading> eight(5, {1350e-6, 900e-6});
  const std::vector<WindowReading> one(5, {370e-6, 200e-6});
  const std::vector<WindowReading> two(5, {510e-6, 300e-6});
  EXPECT_NEAR(FirstCallSeconds(eight, 8, one, 1), 130e-6, 1e-12);
  EXPECT_NEAR(FirstCallSeconds(one, 1, two, 2), 130e-6, 1e-12);
  const std::vector<WindowReading> sooner(5, {230e-6, 200e-6});
  EXPECT_EQ(FirstCallSeconds(eight, 8, sooner, 1), 0);
}

TEST(WindowTime, NothingIsNeverFast) {
  const WindowReading faster[] = {{90e-6, 100e-6}};
  EXPECT_DOUBLE_EQ(CallSeconds(faster, 4, EmptySeconds(faster))[0], kShortestSeconds);
  EXPECT_DOUBLE_EQ(CallSeconds(faster, 4, EmptySeconds(faster), 7e-6)[0], 7e-6);
}

TEST(WindowTime, DawdlingInEmptyWindowsGainsLittle) {
  const WindowReading readings[] = {{1200e-6, 1900e-6}};
  const double usual = 1100e-6;
  EXPECT_DOUBLE_EQ(EmptySeconds(readings, &usual), usual + kMostOverUsualEmptySeconds);
  const WindowReading quicker[] = {{1200e-6, 1090e-6}};
  EXPECT_DOUBLE_EQ(EmptySeconds(quicker, &usual), 1090e-6);
}

TEST(WindowTime, OfTwoEmptyWindowsTheUndisturbedOneCounts) {
  const std::vector<WindowReading> two = {{1e-3, 5e-4}, {1e-3, 7e-4}};
  EXPECT_EQ(EmptySeconds(two), 5e-4);
  const std::vector<WindowReading> three = {{1e-3, 5e-4}, {1e-3, 7e-4}, {1e-3, 5.2e-4}};
  EXPECT_EQ(EmptySeconds(three), 5.2e-4);
}

TEST(WindowTime, CallsThatWaitForTheirHostErrByItsPace) {
  EXPECT_EQ(HostErrorLogSd({40, 42}, {100, 100}), 0);  // alone they take no less
  EXPECT_NEAR(HostErrorLogSd({40, 40}, {100, 50}), 0.25, 1e-9);
  EXPECT_NEAR(HostErrorLogSd({100, 40}, {100, 20}), 0.5, 1e-9);
  EXPECT_EQ(HostErrorLogSd({40, 0}, {0, 50}), 0);  // not measured
}

TEST(WindowTime, WindowsThatBeganEarlyAreLeftOutWithTheirPairs) {
  std::vector<WindowReading> candidate(8, {1600e-6, 600e-6});
  std::vector<WindowReading> baseline(8, {2600e-6, 600e-6});
  EXPECT_EQ(PairsThatWereHeld(candidate, baseline, 8, 600e-6, 600e-6).size(), 8U);
  candidate[2].with_calls_seconds = 20e-6;    // over before an empty one
  baseline[5].with_calls_seconds = 700e-6;    // a twentieth of its work was left
  candidate[6].with_calls_seconds = 5600e-6;  // slow: its own doing, for all we know
  const std::vector<size_t> expected = {0, 1, 3, 4, 6, 7};
  EXPECT_EQ(PairsThatWereHeld(candidate, baseline, 8, 600e-6, 600e-6), expected);
}

TEST(WindowTime, ACandidateWhoseWindowsMostlyBeginEarlyKeepsThem) {
  std::vector<WindowReading> candidate(8, {20e-6, 600e-6});
  candidate[0].with_calls_seconds = candidate[3].with_calls_seconds = 1600e-6;
  const std::vector<WindowReading> baseline(8, {2600e-6, 600e-6});
  EXPECT_EQ(PairsThatWereHeld(candidate, baseline, 8, 600e-6, 600e-6).size(), 8U);
}

TEST(WindowTime, ThreePairsAreNotMadeFewer) {
  const WindowReading candidate[] = {{1600e-6, 600e-6}, {20e-6, 600e-6}, {1600e-6, 600e-6}};
  const std::vector<WindowReading> baseline(3, {2600e-6, 600e-6});
  EXPECT_EQ(PairsThatWereHeld(candidate, baseline, 8, 600e-6, 600e-6).size(), 3U);
}

TEST(WindowTime, NoiseOfShortKernelsLeavesNothingOut) {
  // 2.5 us a call, windows that vary by 15 us.
  std::vector<WindowReading> readings;
  for (const double noise : {-15e-6, -9e-6, -2e-6, 0.0, 3e-6, 8e-6, 14e-6, 15e-6})
    readings.push_back({620e-6 + noise, 600e-6});
  EXPECT_EQ(PairsThatWereHeld(readings, readings, 8, 600e-6, 600e-6).size(), readings.size());
}

CallBounds Bounds(double alone, double latency) {
  CallBounds bounds;
  bounds.alone.assign(6, alone);
  bounds.latency.assign(6, latency);
  bounds.usual_alone.assign(6, 70e-6);
  bounds.usual_seconds = 70e-6;
  bounds.flush_seconds = 60e-6;
  return bounds;
}

TEST(WindowTime, HonestCallsAreChargedNothing) {
  EXPECT_EQ(ChargedSeconds(20e-6, Bounds(19e-6, 60e-6)), 0);
  EXPECT_EQ(ChargedSeconds(20e-6, Bounds(21.5e-6, 60e-6)), 0);   // within what is believed
  EXPECT_EQ(ChargedSeconds(1e-3, Bounds(1.02e-3, 1.05e-3)), 0);  // 3 %
  EXPECT_EQ(ChargedSeconds(68e-6, Bounds(67e-6, 140e-6)), 0);    // a host of 70 us beside it
  EXPECT_EQ(ChargedSeconds(340e-6, Bounds(700e-6, 700e-6)), 0);  // the host's pace
  EXPECT_EQ(ChargedSeconds(20e-6, CallBounds{}), 0);
}

TEST(WindowTime, WhatCallsAloneTakeForEverybodyIsNotCharged) {
  CallBounds bounds = Bounds(53e-6, 93e-6);
  EXPECT_NEAR(ChargedSeconds(45e-6, bounds), 8e-6, 1e-9);
  bounds.usual_alone.assign(6, 79e-6);
  EXPECT_EQ(ChargedSeconds(45e-6, bounds), 0);
}

TEST(WindowTime, CallsThatOverlapWithTheFlushAreCharged) {
  // 100 us of arithmetic beside a flush of 70: the window says 30.
  EXPECT_NEAR(ChargedSeconds(30e-6, Bounds(100e-6, 130e-6)), 70e-6, 1e-9);
}

TEST(WindowTime, CallsDoneAllAtOnceAreCharged) {
  EXPECT_NEAR(ChargedSeconds(3e-6, Bounds(40e-6, 50e-6)), 37e-6, 1e-9);
}

TEST(WindowTime, PretendingASlowHostCostsWhatItPretends) {
  // Calls alone are not asked then.
  EXPECT_NEAR(ChargedSeconds(30e-6, Bounds(100e-6, 430e-6)), 310e-6, 1e-9);
}

TEST(WindowTime, OneSlowHostOfTwoIsNoPretence) {
  CallBounds bounds = Bounds(100e-6, 0);
  bounds.latency = {400e-6, 520e-6};
  EXPECT_EQ(ChargedSeconds(30e-6, bounds), 0);
}

TEST(WindowTime, OfTheHostCountsWhatItFallsBehindMoreThanTheBaselines) {
  CallBounds bounds = Bounds(30e-6, 430e-6);
  bounds.usual_latency.assign(6, 470e-6);
  // Launches at one pace, so calls at one pace: 70 us, as the baseline's time says.
  EXPECT_NEAR(ChargedSeconds(30e-6, bounds), 40e-6, 1e-9);
  bounds.usual_latency.assign(6, 600e-6);
  EXPECT_EQ(ChargedSeconds(30e-6, bounds), 0);
}

TEST(WindowTime, HostsThatWindowsOfOneCallHideCountOnBothSides) {
  CallBounds bounds = Bounds(30e-6, 340e-6);
  bounds.usual_latency.assign(6, 480e-6);
  EXPECT_EQ(HostPaceSeconds(30e-6, bounds).baseline_seconds, 0);  // several calls show their host
  bounds.one_call = true;
  EXPECT_EQ(ChargedSeconds(30e-6, bounds), 0);
  HostPace pace = HostPaceSeconds(30e-6, bounds);
  EXPECT_NEAR(30e-6 + pace.candidate_seconds, 250e-6, 1e-9);
  EXPECT_NEAR(70e-6 + pace.baseline_seconds, 350e-6, 1e-9);
  EXPECT_EQ(pace.ratio_log_sd, 0);
  // Pace of 220 and of 280 us; of 250 for both 320 over 280, for 350 over 250.
  EXPECT_NEAR(pace.with_one_pace * 350 / 250, 320.0 / 280, 1e-9);
  // One that is bound by the device waits for no host.
  bounds.latency.assign(6, 430e-6);
  pace = HostPaceSeconds(400e-6, bounds);
  EXPECT_EQ(pace.candidate_seconds, 0);
  EXPECT_NEAR(pace.baseline_seconds, 280e-6, 1e-9);
}

TEST(WindowTime, HostsThatDifferByNoiseAreOne) {
  CallBounds bounds = Bounds(70e-6, 0);
  bounds.one_call = true;
  bounds.latency = {300e-6, 320e-6, 340e-6, 360e-6, 380e-6};
  bounds.usual_latency = {310e-6, 330e-6, 350e-6, 370e-6, 390e-6};
  HostPace pace = HostPaceSeconds(70e-6, bounds);
  EXPECT_NEAR(pace.candidate_seconds, 145e-6, 1e-9);
  EXPECT_EQ(pace.candidate_seconds, pace.baseline_seconds);
  EXPECT_GT(pace.ratio_log_sd, 0.05);
  EXPECT_EQ(pace.with_one_pace, 1);
  for (auto* latency : {&bounds.latency, &bounds.usual_latency})
    for (double& seconds : *latency) seconds -= 130e-6;
  pace = HostPaceSeconds(70e-6, bounds);
  EXPECT_EQ(pace.candidate_seconds, 0);  // within noise of none
  EXPECT_EQ(pace.baseline_seconds, 0);
}

TEST(WindowTime, TheSpreadOfAHandfulCountsMore) {
  CallBounds bounds = Bounds(20e-6, 60e-6);
  bounds.alone = {20e-6, 27e-6, 35e-6, 28e-6};
  EXPECT_EQ(ChargedSeconds(14e-6, bounds), 0);
  std::vector<double> many;
  for (int i = 0; i < 12; ++i) many.insert(many.end(), bounds.alone.begin(), bounds.alone.end());
  bounds.alone = many;
  EXPECT_GT(ChargedSeconds(14e-6, bounds), 10e-6);
}

TEST(WindowTime, WhatNoiseExcusesIsLookedAtForLonger) {
  CallBounds bounds = Bounds(20e-6, 60e-6);
  EXPECT_TRUE(ChargeIsInDoubt(17e-6, bounds));
  EXPECT_FALSE(ChargeIsInDoubt(19e-6, bounds));
  bounds.alone = {10e-6, 20e-6, 30e-6};
  EXPECT_EQ(ChargedSeconds(14e-6, bounds), 0);
  EXPECT_TRUE(ChargeIsInDoubt(14e-6, bounds));
  bounds.latency.assign(6, 430e-6);
  EXPECT_FALSE(ChargeIsInDoubt(14e-6, bounds));  // the host tells more
}

TEST(WindowTime, NoiseExcuses) {
  CallBounds bounds = Bounds(20e-6, 60e-6);
  bounds.alone = {10e-6, 20e-6, 30e-6, 40e-6, 50e-6};
  EXPECT_EQ(ChargedSeconds(20e-6, bounds), 0);
}

TEST(WindowTime, WorkAfterTheEndIsChargedToEveryCall) {
  const double usual[] = {150e-6, 152e-6, 148e-6};
  const double busy[] = {270e-6, 272e-6, 268e-6};
  EXPECT_NEAR(AfterDoneSeconds(busy, usual, 8, 60e-6), 13.8e-6, 1.5e-6);
  EXPECT_EQ(AfterDoneSeconds(usual, usual, 8, 60e-6), 0);
  EXPECT_EQ(AfterDoneSeconds(usual, busy, 1, 60e-6), 0);
  const double little[] = {165e-6, 167e-6, 163e-6};
  EXPECT_EQ(AfterDoneSeconds(little, usual, 8, 60e-6), 0);  // 2 us a call
}

TEST(WindowTime, LongCallsGetFewerToAWindow) {
  EXPECT_EQ(CallsPerWindow(5e-6, 12), 12);
  EXPECT_EQ(CallsPerWindow(2e-3, 12), 5);
  EXPECT_EQ(CallsPerWindow(1, 12), 1);
  EXPECT_EQ(CallsPerWindow(0, 12), 12);
  EXPECT_EQ(CallsPerWindow(1e-6, 0), 1);
}

}  // namespace
}  // namespace davinci::stats
