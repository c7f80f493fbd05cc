#include "davinci/judge/timing/window_times.h"

#include <gtest/gtest.h>

namespace davinci::judge {
namespace {

constexpr int64_t kEmptyNs = 100'000;

// A window of four calls beside an empty one.
CallResult Window(int64_t call_ns) {
  CallResult call;
  call.window_ns = kEmptyNs + 4 * call_ns;
  call.empty_ns = kEmptyNs;
  return call;
}

TimedPair Windows(int64_t baseline_ns, int64_t candidate_ns) {
  TimedPair pair;
  pair.baseline = Window(baseline_ns);
  pair.candidate = Window(candidate_ns);
  return pair;
}

class WindowTimesTest : public testing::Test {
 protected:
  WindowTimesTest() {
    plan_.full_queue.calls = 4;
    plan_.between_events_seconds = 2e-6;
    for (int i = 0; i < 5; ++i) pairs_.record.push_back(Windows(50'000, 25'000));
  }
  TimedPairs pairs_;
  WindowPlan plan_;
};

TEST_F(WindowTimesTest, ACallIsItsShareOfWhatAnEmptyWindowLeaves) {
  const auto samples = WindowSamples(pairs_, plan_, pairs_.record, plan_.full_queue);
  ASSERT_EQ(samples.size(), 5U);
  EXPECT_NEAR(samples[0].baseline_seconds, 5e-5 + 2e-6, 1e-12);
  EXPECT_NEAR(samples[0].candidate_seconds, 2.5e-5 + 2e-6, 1e-12);
}

TEST_F(WindowTimesTest, APairWhoseWindowBeganEarlyIsLeftOut) {
  pairs_.record.push_back(Windows(50'000, 1'000));
  EXPECT_EQ(WindowSamples(pairs_, plan_, pairs_.record, plan_.full_queue).size(), 5U);
}

TEST_F(WindowTimesTest, ACallFromAnIdleQueueTakesNoLessThanInAFullOne) {
  plan_.from_idle = plan_.full_queue;
  plan_.from_idle.idle = true;
  for (int i = 0; i < 5; ++i) pairs_.latency.push_back(Windows(50'000, 20'000));
  const auto samples = WindowSamples(pairs_, plan_, pairs_.latency, plan_.from_idle);
  EXPECT_NEAR(samples[0].candidate_seconds, 2.5e-5, 1e-12);
}

}  // namespace
}  // namespace davinci::judge
