#include "davinci/judge/trial/trial.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace davinci::judge {
namespace {

class TrialTest : public testing::Test {
 protected:
  TrialTest() { job_.task = std::make_shared<task::Task>(); }
  JudgeContext context_;
  Protocol protocol_;
  Job job_;
};

TEST_F(TrialTest, StagesAreTimedAndReported) {
  std::vector<std::string> seen;
  job_.progress = [&](std::string_view stage) { seen.emplace_back(stage); };
  Trial trial(context_, job_, protocol_);
  BeginStage(trial, "loading");
  BeginStage(trial, "timing");
  BeginStage(trial, "");
  EXPECT_EQ(seen, (std::vector<std::string>{"loading", "timing"}));
  EXPECT_TRUE(trial.clock.stage_seconds.contains("loading"));
  EXPECT_TRUE(trial.clock.stage_seconds.contains("timing"));
  EXPECT_EQ(trial.clock.stage_seconds.size(), 2U);
}

TEST_F(TrialTest, CallsOnADeviceMayTakeLongerAndSlowBaselinesRaiseTheLimit) {
  Trial on_cpu(context_, job_, protocol_);
  EXPECT_EQ(CallTimeout(on_cpu), protocol_.call_timeout_seconds);
  on_cpu.timing.baseline_seconds = protocol_.call_timeout_seconds;
  EXPECT_EQ(CallTimeout(on_cpu), protocol_.call_timeout_factor * protocol_.call_timeout_seconds);
  job_.target = Target::kCuda;
  Trial on_device(context_, job_, protocol_);
  EXPECT_EQ(CallTimeout(on_device), 3 * protocol_.call_timeout_seconds);
}

TEST_F(TrialTest, AGroupDoesNotWaitForAKernelThatCompilesForAMinute) {
  job_.target = Target::kCuda;
  protocol_.staged = true;
  EXPECT_EQ(CallTimeout(Trial(context_, job_, protocol_)), protocol_.call_timeout_seconds);
  // Interpreted calls are slow for another reason.
  job_.compile_only = true;
  EXPECT_EQ(CallTimeout(Trial(context_, job_, protocol_)), 3 * protocol_.call_timeout_seconds);
}

TEST_F(TrialTest, OneLaunchIsCurrentAndTheOthersAreParked) {
  Trial trial(context_, job_, protocol_);
  trial.session = std::make_unique<Session>();
  trial.session->baseline.name = "baseline";
  trial.launches.parked.resize(2);
  UseLaunch(trial, 1);
  EXPECT_EQ(trial.session->baseline.name, "");
  trial.candidate.timed.name = "candidate 1";
  UseLaunch(trial, 0);
  EXPECT_EQ(trial.session->baseline.name, "baseline");
  EXPECT_EQ(trial.candidate.timed.name, "candidate");
  EXPECT_EQ(trial.launches.parked[1].candidate.name, "candidate 1");
}

TEST_F(TrialTest, SizesAreSmallerOnlyWhereTheOracleSaysSo) {
  EXPECT_EQ(ShrunkSizes(nullptr), nullptr);
  Session session;
  EXPECT_EQ(ShrunkSizes(&session), nullptr);
  session.fitted = {{"shrunk", {{"set", {{"N", 4}}}}}};
  ASSERT_NE(ShrunkSizes(&session), nullptr);
  EXPECT_EQ(ShrunkSizes(&session)->at("set").at("N"), 4);
}

}  // namespace
}  // namespace davinci::judge
