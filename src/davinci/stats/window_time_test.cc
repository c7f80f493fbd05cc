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

TEST(WindowTime, OfTheHostCountsWhatItFallsBehindMoreThanTheBaselines) {
  CallBounds bounds = Bounds(30e-6, 430e-6);
  bounds.usual_latency.assign(6, 470e-6);
  // Launches at one pace, so calls at one pace: 70 us, as the baseline's time says.
  EXPECT_NEAR(ChargedSeconds(30e-6, bounds), 40e-6, 1e-9);
  bounds.usual_latency.assign(6, 600e-6);
  EXPECT_EQ(ChargedSeconds(30e-6, bounds), 0);
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
