// The tests time trials whose oracle, runners and clock do as a script says (scripted_trial.h).
// Calls of the baseline take 1 ms on cpu, where each is timed, and 40 µs on cuda, in windows of
// twelve.
#include "davinci/judge/timing/measure_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "davinci/judge/timing/samples.h"
#include "davinci/judge/timing/scripted_trial.h"

namespace davinci::judge {
namespace {

constexpr double kUs = 1e-6;

Script OnCuda() {
  Script script;
  script.baseline.call = script.candidate.call = 40;
  return script;
}

// ---- What is timed, and what is added to it.

struct Timing {
  const char* name;
  Target target;
  std::function<void(Script&)> change;
  double speedup;  // ± 2 %
  bool significant;
  std::vector<Label> labels = {};
};

void PrintTo(const Timing& timing, std::ostream* out) { *out << timing.name; }

const Timing kTimings[] = {
    {"cpu_identical", Target::kCpu, [](Script&) {}, 1, false},
    {"cpu_faster", Target::kCpu, [](Script& s) { s.candidate.call = 500; }, 2, true},
    {"cpu_slower", Target::kCpu, [](Script& s) { s.candidate.call = 2000; }, 0.5, true},
    // 500 µs beyond the baseline's, of which 30 µs and 2 % of a call are free.
    {"cpu_works_while_armed",
     Target::kCpu,
     [](Script& s) {
       s.candidate.call = 500;
       s.candidate.arm = 520;
     },
     1000. / (500 + 500 - 30 - 10),
     false,
     {Label::kWorkBetweenCalls}},
    // As where another process works for it.
    {"cpu_waits_while_armed",
     Target::kCpu,
     [](Script& s) {
       s.candidate.call = 500;
       s.candidate.arm = 520;
       s.candidate.arm_cpu = 0.01;
     },
     1000. / (500 + 500 - 30 - 10),
     false,
     {Label::kWorkBetweenCalls}},
    {"cpu_works_after_done", Target::kCpu,
     [](Script& s) {
       s.candidate.call = 500;
       s.candidate.after_done = 500;
     },
     1, false},
    // 500 ns each.
    {"cpu_leaves_pages_unwritten",
     Target::kCpu,
     [](Script& s) {
       s.candidate.call = 500;
       s.candidate.unwritten_pages = 1000;
     },
     1,
     false,
     {Label::kUnwrittenPages}},
    // As long on average.
    {"cpu_works_in_few_calls_for_many",
     Target::kCpu,
     [](Script& s) {
       s.candidate.call = 500;
       s.candidate.eighth_call = 4500;
     },
     1,
     false,
     {Label::kUnevenCalls}},

    // Two events say 2 µs more of a call than it adds to a queue.
    {"cuda_identical", Target::kCuda, [](Script&) {}, 1, false},
    {"cuda_faster", Target::kCuda, [](Script& s) { s.candidate.call = 20; }, 42. / 22, true},
    {"cuda_slower", Target::kCuda, [](Script& s) { s.candidate.call = 80; }, 42. / 82, true},
    // 10 µs of a window of twelve calls are believed.
    {"cuda_dawdles_in_empty_windows", Target::kCuda, [](Script& s) { s.candidate.dawdle = 240; },
     42 / (42 - 10. / 12), false},
    // As where calls share a launch, or overlap with what fills the buffers.
    {"cuda_calls_alone_take_longer",
     Target::kCuda,
     [](Script& s) {
       s.candidate.call = 20;
       s.candidate.alone_more = 20;
     },
     1,
     false,
     {Label::kChargedWindows}},
    {"cuda_calls_alone_take_longer_for_both", Target::kCuda,
     [](Script& s) {
       s.candidate.call = 20;
       s.candidate.alone_more = s.baseline.alone_more = 20;
     },
     42. / 22, true},
    // Latency less the call, the flush and a call that the device works meanwhile.
    {"cuda_host_falls_behind",
     Target::kCuda,
     [](Script& s) { s.candidate.host = 400; },
     42. / (42 + 400 + 80. / 12 - 30 - 40),
     false,
     {Label::kChargedWindows}},
    // 60 µs of a window of twelve calls.
    {"cuda_device_is_busy_after_done",
     Target::kCuda,
     [](Script& s) { s.candidate.busy_after = 60; },
     42. / 47,
     false,
     {Label::kChargedWindows}},
};

class TimingTest : public testing::TestWithParam<Timing> {};

TEST_P(TimingTest, ComesToASpeedup) {
  const Timing& timing = GetParam();
  ScriptedTrial scripted(timing.target, timing.target == Target::kCuda ? OnCuda() : Script());
  if (timing.change) timing.change(scripted.script);
  const auto done = scripted.Measure();
  ASSERT_TRUE(done.ok()) << done.status().ToString();
  ASSERT_TRUE(*done) << scripted.trial().report.failure->message;
  const Speedup& speedup = scripted.speedup();
  EXPECT_NEAR(speedup.median / timing.speedup, 1, 0.02) << speedup.median;
  EXPECT_LE(speedup.low, timing.speedup);
  EXPECT_GE(speedup.high, timing.speedup);
  EXPECT_EQ(speedup.significant, timing.significant)
      << speedup.decided_low << " " << speedup.decided_high;
  for (const Label label : {Label::kWorkBetweenCalls, Label::kChargedWindows, Label::kUnevenCalls,
                            Label::kUnwrittenPages})
    EXPECT_EQ(scripted.trial().report.evaluation.HasLabel(label),
              std::ranges::count(timing.labels, label) > 0)
        << static_cast<int>(label);
}

INSTANTIATE_TEST_SUITE_P(MeasureTime, TimingTest, testing::ValuesIn(kTimings),
                         [](const auto& one) { return std::string(one.param.name); });

// ---- What is refused.

struct Refusal {
  const char* name;
  Target target;
  std::function<void(Script&)> change;
  std::optional<Rule> rule;  // nothing: mismatch
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

const Refusal kRefusals[] = {
    {"cpu_reply_of_another_size", Target::kCpu, [](Script& s) { s.candidate.left_out = 1; },
     Rule::kControlChannel},
    {"cpu_clock_tells_another_story", Target::kCpu, [](Script& s) { s.candidate.claimed = 0.3; },
     Rule::kClockAgreement},
    {"cpu_works_while_stopped", Target::kCpu, [](Script& s) { s.candidate.while_stopped = 500; },
     Rule::kWorkOutsideWindow},
    {"cpu_shares_memory_of_outputs", Target::kCpu,
     [](Script& s) { s.candidate.shares_memory = true; }, Rule::kSharedOutput},
    {"cpu_wrong_in_a_timed_call", Target::kCpu, [](Script& s) { s.right = false; }, std::nullopt},

    {"cuda_reply_of_another_size", Target::kCuda, [](Script& s) { s.candidate.left_out = 1; },
     Rule::kControlChannel},
    {"cuda_clock_tells_another_story", Target::kCuda, [](Script& s) { s.candidate.claimed = 0.1; },
     Rule::kClockAgreement},
    {"cuda_works_while_stopped", Target::kCuda, [](Script& s) { s.candidate.while_stopped = 500; },
     Rule::kWorkOutsideWindow},
    {"cuda_no_memory_behind_outputs", Target::kCuda,
     [](Script& s) { s.candidate.has_memory = false; }, Rule::kUnreadableOutput},
    {"cuda_wrong_in_a_timed_call", Target::kCuda, [](Script& s) { s.right = false; }, std::nullopt},
    {"cuda_leaves_buffers_unfilled", Target::kCuda, [](Script& s) { s.candidate.fills = false; },
     Rule::kFlushLeftOut},
    {"cuda_works_while_armed", Target::kCuda, [](Script& s) { s.candidate.arm = 1000; },
     Rule::kWorkBetweenCalls},
    {"cuda_device_is_busy_long_after_done", Target::kCuda,
     [](Script& s) { s.candidate.busy_after = 600; }, Rule::kBusyAfterDone},
    {"cuda_device_is_busy_before_go", Target::kCuda,
     [](Script& s) { s.candidate.busy_before = 600; }, Rule::kBusyBeforeGo},
};

class RefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, NamesTheRule) {
  const Refusal& refusal = GetParam();
  ScriptedTrial scripted(refusal.target, refusal.target == Target::kCuda ? OnCuda() : Script());
  refusal.change(scripted.script);
  const auto done = scripted.Measure();
  ASSERT_TRUE(done.ok()) << done.status().ToString();
  ASSERT_FALSE(*done) << scripted.speedup().median;
  EXPECT_EQ(scripted.rule(), refusal.rule);
  if (!refusal.rule) {
    EXPECT_EQ(scripted.trial().report.failure->outcome, Outcome::kMismatch);
    EXPECT_EQ(scripted.trial().report.evaluation.correct, false);
  }
}

INSTANTIATE_TEST_SUITE_P(MeasureTime, RefusalTest, testing::ValuesIn(kRefusals),
                         [](const auto& one) { return std::string(one.param.name); });

// ---- What else a measurement says.

TEST(MeasureTime, OnABusyMachineTheIntervalHoldsBothExtremes) {
  ScriptedTrial scripted(Target::kCpu);
  scripted.script.candidate.core_wait = 1000;
  scripted.script.candidate.waiting_of_six = 6;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_FALSE(scripted.trial().costs.undisturbed);
  EXPECT_LT(scripted.speedup().low, 0.55);   // all waits are the candidate's own
  EXPECT_GT(scripted.speedup().high, 0.95);  // … or other programs'
}

TEST(MeasureTime, OnABusyMachineChargesCountAtBothExtremes) {
  ScriptedTrial scripted(Target::kCpu);
  scripted.script.candidate.call = 500;
  scripted.script.candidate.arm = 520;
  for (ScriptedSide* side : {&scripted.script.baseline, &scripted.script.candidate}) {
    side->core_wait = 500;
    side->waiting_of_six = 6;
  }
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_FALSE(scripted.trial().costs.undisturbed);
  EXPECT_LT(scripted.speedup().low, 0.75);  // 1000 / (500 + 500 + 460)
  // 1500 / (500 + 460), and to where nothing is charged.
  EXPECT_LT(scripted.speedup().high, 3);
}

TEST(MeasureTime, ACallWithMuchWorkWhileStoppedEndsItAtOnce) {
  ScriptedTrial scripted(Target::kCpu);
  scripted.script.candidate.while_stopped = 25'000;
  ASSERT_FALSE(*scripted.Measure());
  EXPECT_EQ(scripted.rule(), Rule::kWorkOutsideWindow);
  EXPECT_TRUE(scripted.trial().pairs.record.empty());
}

TEST(MeasureTime, ADoubtfulChargeForArmingReachesToWhereNothingIsCharged) {
  ScriptedTrial scripted(Target::kCpu);
  scripted.script.candidate.call = 500;
  scripted.script.candidate.arm = 520;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_NEAR(scripted.trial().charges.record.arming, (500 - 30 - 10) * kUs, 5 * kUs);
  EXPECT_GT(scripted.speedup().high, 1.9);
  EXPECT_LT(scripted.speedup().low, 1.05);
  EXPECT_NEAR(OnAverage(scripted.trial()).candidate_seconds, (500 + 460) * kUs, 10 * kUs);
}

TEST(MeasureTime, ADeviceThatIsBusyAfterDoneIsChargedToLatencyToo) {
  ScriptedTrial scripted(Target::kCuda, OnCuda());
  scripted.script.candidate.busy_after = 60;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_NEAR(scripted.trial().report.evaluation.latency->candidate.median_ms, 0.045, 0.001);
  EXPECT_NEAR(scripted.trial().report.evaluation.latency->baseline.median_ms, 0.040, 0.001);
}

TEST(MeasureTime, WhereEnoughCallsAreUndisturbedTheyAloneCount) {
  ScriptedTrial scripted(Target::kCpu);
  scripted.script.candidate.core_wait = 1000;
  scripted.script.candidate.waiting_of_six = 4;
  scripted.protocol.min_pairs = 40;
  scripted.protocol.timing_budget_seconds = 60;
  scripted.protocol.max_pairs = 200;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_NEAR(scripted.speedup().median, 1, 0.02);
  EXPECT_LT(scripted.trial().report.evidence.undisturbed_calls->candidate,
            scripted.trial().pairs.record.size());
}

TEST(MeasureTime, WhatIsUnevenIsMeasuredTwice) {
  ScriptedTrial scripted(Target::kCpu);
  scripted.script.candidate.eighth_call = 20'000;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_TRUE(scripted.trial().report.evidence.timed_again.has_value());
}

TEST(MeasureTime, TooFewPairsComeToAnIntervalThatSaysSo) {
  ScriptedTrial scripted(Target::kCpu);
  scripted.protocol.timing_budget_seconds = 1e-3;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_EQ(scripted.trial().report.evidence.stopped_because, "budget");
  EXPECT_LT(scripted.trial().pairs.record.size(), 10u);
  EXPECT_FALSE(scripted.speedup().significant);
}

TEST(MeasureTime, PairsOfWhichAWindowBeganEarlyAreDropped) {
  ScriptedTrial scripted(Target::kCuda, OnCuda());
  scripted.script.candidate.eighth_call = 2;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_GT(scripted.trial().report.evidence.windows->not_held, 0u);
  EXPECT_LT(scripted.speedup().high, 1.05);
}

TEST(MeasureTime, TheFirstCallAfterAStopCostsTheCandidateNoMoreThanTheBaseline) {
  ScriptedTrial scripted(Target::kCuda, OnCuda());
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_NEAR(scripted.trial().report.evidence.windows->first_call_ms, 0.08, 0.01);
  EXPECT_NEAR(scripted.trial().report.evaluation.latency->candidate.median_ms, 0.04, 0.003);
  ScriptedTrial slower(Target::kCuda, OnCuda());
  slower.script.candidate.first_call = 680;
  ASSERT_TRUE(*slower.Measure());
  EXPECT_NEAR(slower.trial().report.evaluation.latency->candidate.median_ms, 0.04 + 0.6 / 12,
              0.003);
}

TEST(MeasureTime, InWindowsOfOneCallBothSidesGetTheTimeOfTheirHosts) {
  ScriptedTrial scripted(Target::kCuda, OnCuda());
  scripted.protocol.window_calls = 1;
  scripted.script.baseline.host = 500;
  scripted.script.candidate.host = 300;
  ASSERT_TRUE(*scripted.Measure());
  const stats::HostPace& pace = scripted.trial().charges.record.host_pace;
  EXPECT_NEAR(pace.baseline_seconds, (500 - 30 - 40) * kUs, 5 * kUs);
  EXPECT_NEAR(pace.candidate_seconds, (300 - 30 - 40) * kUs, 5 * kUs);
  EXPECT_NEAR(scripted.speedup().median, 472. / 272, 0.05);
  EXPECT_LT(scripted.speedup().low, 1.1);  // the paces of two processes can differ
}

TEST(MeasureTime, ADoubtfulChargeReachesToWhereNothingIsCharged) {
  ScriptedTrial scripted(Target::kCuda, OnCuda());
  scripted.script.candidate.call = 20;
  scripted.script.candidate.alone_more = 20;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_NEAR(scripted.trial().charges.record.windows, 20 * kUs, kUs);
  EXPECT_GT(scripted.speedup().high, 1.85);
  EXPECT_GE(scripted.trial().pairs.alone.size(), 45u);  // that decide it
}

TEST(MeasureTime, WithStagedADoubtfulChargeStaysOne) {
  ScriptedTrial scripted(Target::kCuda, OnCuda());
  scripted.protocol.staged = true;
  scripted.script.candidate.call = 20;
  scripted.script.candidate.alone_more = 20;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_GT(scripted.trial().charges.record.windows, 0);
  EXPECT_LT(scripted.trial().pairs.alone.size(), 45u);
}

TEST(MeasureTime, WithStagedCallsThatWaitForTheirHostHaveWideIntervals) {
  for (const bool is_staged : {true, false}) {
    ScriptedTrial scripted(Target::kCuda, OnCuda());
    scripted.protocol.staged = is_staged;
    scripted.script.baseline.call = scripted.script.candidate.call = 40;
    scripted.script.baseline.alone_more = -20;  // the host is half of a call in a full queue
    ASSERT_TRUE(*scripted.Measure());
    const double width = scripted.speedup().high / scripted.speedup().low;
    if (is_staged)
      EXPECT_GT(width, 2);
    else
      EXPECT_LT(width, 1.5);
    EXPECT_NEAR(scripted.speedup().median, 1, 0.05);
  }
}

// One pair to warm up, four of the record, three alone, one from an idle queue; the first candidate
// of a session also shows how long the baseline takes.
TEST(MeasureTime, WithStagedTheDeviceIsHeldForNinePairs) {
  for (const bool is_first : {false, true}) {
    Script script = OnCuda();
    script.is_first = is_first;
    ScriptedTrial scripted(Target::kCuda, script);
    scripted.protocol = ProtocolByName("staged").value();
    ASSERT_TRUE(*scripted.Measure());
    EXPECT_EQ(scripted.trial().pairs.record.size(), 4u);
    EXPECT_EQ(scripted.trial().pairs.alone.size(), 3u);
    EXPECT_EQ(scripted.trial().pairs.latency.size(), 1u);
    // One more checks other weights when the device is shared again.
    EXPECT_LE(scripted.trial().windows.num_pairs, is_first ? 11 : 10);
  }
}

TEST(MeasureTime, CallsThatReturnOneMemoryGetWindowsOfTheirOwn) {
  ScriptedTrial scripted(Target::kCuda, OnCuda());
  scripted.script.candidate.one_memory = true;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_TRUE(scripted.trial().report.evidence.windows->one_memory);
  EXPECT_EQ(scripted.trial().report.evidence.windows->calls, 1);
  EXPECT_EQ(scripted.trial().pairs.record.back().candidate.returned.size(), 1u);
}

TEST(MeasureTime, WhereThePublishedRuleDecidesTheLatencyIsTheTime) {
  ScriptedTrial scripted(Target::kCuda, OnCuda());
  scripted.protocol.latency_is_record = true;
  scripted.script.candidate.host = 120;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_NEAR(scripted.trial().report.evaluation.device->speedup.median, 1, 0.02);
  EXPECT_NEAR(scripted.speedup().median, 40. / 160, 0.01);
}

TEST(MeasureTime, TheFirstCandidateOfASessionShowsHowLongTheBaselineTakes) {
  Script script = OnCuda();
  script.is_first = true;
  script.candidate.call = script.baseline.call = 5000;
  ScriptedTrial scripted(Target::kCuda, script);
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_NEAR(scripted.trial().session->baseline_seconds.value(), 5000 * kUs, 100 * kUs);
  EXPECT_LE(scripted.trial().report.evidence.windows->calls, 2);  // 10 ms of them are ample
}

TEST(MeasureTime, AClearlySlowCandidateIsGivenUp) {
  ScriptedTrial scripted(Target::kCpu);
  scripted.protocol.give_up_below = 0.8;
  scripted.protocol.target_half_width = scripted.protocol.target_of_effect = 1e-3;
  scripted.script.candidate.call = 3000;
  ASSERT_TRUE(*scripted.Measure());
  EXPECT_EQ(scripted.trial().report.evidence.stopped_because, "clearly slow");
}

TEST(MeasureTime, TheReferencesFailureIsTheTasksFault) {
  for (const Target target : {Target::kCpu, Target::kCuda}) {
    ScriptedTrial scripted(target, target == Target::kCuda ? OnCuda() : Script());
    scripted.script.baseline.left_out = 1;
    const auto done = scripted.Measure();
    EXPECT_EQ(done.status().code(), StatusCode::kInvalidArgument);
    EXPECT_FALSE(scripted.rule());
  }
}

}  // namespace
}  // namespace davinci::judge
