// A run that ended early, that is continued, shown again or refused.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "davinci/base/files.h"
#include "davinci/llm/ledger.h"
#include "run_fixture.h"

namespace davinci::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(RunTest, TheSameCommandAfterTheEndCostsNothing) {
  ASSERT_TRUE(Execute().ok());
  const int calls = NumCalls();
  const int judged = evaluator_.num_calls;
  const auto again = Execute();
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(NumCalls(), calls);
  EXPECT_EQ(evaluator_.num_calls, judged);
  EXPECT_THAT(again->learned, ElementsAre("keep-rows-in-registers"));
}

TEST_F(RunTest, AReplayGivesTheSameResultWithoutModelJudgeTasksOrPrompts) {
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  std::filesystem::remove(dir_.path() / "alpha.py");
  const auto replay = runs::ReplayRun(dir_.path() / "run", {});
  ASSERT_TRUE(replay.ok()) << replay.status().ToString();
  auto comparable = [](const runs::RunResult& r) {
    nlohmann::json document = runs::ToJson(r);
    for (auto& task : document["tasks"])
      if (task["winner"].is_object()) task["winner"].erase("file");
    return document;
  };
  EXPECT_EQ(comparable(*replay), comparable(*result));
}

TEST_F(RunTest, ARefusedKeyEndsTheRunAtOnce) {
  backbone_ = std::make_unique<SlowRecording>(scenario_.Replies(), 0, "");
  std::atomic<int> asked = 0;
  backbone_->before = [&](const llm::Request&) {
    ++asked;
    return PermissionDenied("the endpoint refuses the key");
  };
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->stopped, TrajectoryEnd::kFailed);
  EXPECT_THAT(result->trouble.message(), HasSubstr("refuses the key"));
  EXPECT_LE(asked, 6);
}

TEST_F(RunTest, ABudgetOfCallsIsKeptAcrossRestartsAndTheBestIsReported) {
  scenario_.recipe.budget.calls = 20;
  for (const int64_t limit : {12, 20}) {
    llm::Ledger ledger({std::nullopt, limit});
    llm::RecordedBackbone backbone(scenario_.Replies(), "recorded:test", &ledger);
    runs::RunParts parts = scenario_.Parts(&backbone, &evaluator_);
    parts.ledger = &ledger;
    rollout::StopFlag stop;
    const auto result = runs::ExecuteRun(scenario_.Request(dir_.path() / "run"), parts, &stop, {});
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(result->stopped, TrajectoryEnd::kBudget);
    EXPECT_EQ(ledger.Total().num_calls, limit) << "what was paid before counts";
    EXPECT_EQ(result->cost.calls, limit);
  }
}

TEST_F(RunTest, AStoppedRunReportsItsBestAndGoesOn) {
  backbone_ = std::make_unique<SlowRecording>(scenario_.Replies(), 0, dir_.path() / "calls");
  std::atomic<int> calls = 0;
  backbone_->before = [&](const llm::Request&) {
    if (++calls == 22) stop_.Stop(TrajectoryEnd::kStopped, Cancelled("interrupted"));
    return Status::Ok();
  };
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->stopped, TrajectoryEnd::kStopped);
  int winners = 0;
  for (const report::TaskView& task : result->view.tasks) winners += task.winner.has_value();
  EXPECT_GT(winners, 0);
  backbone_->before = nullptr;
  rollout::StopFlag fresh;
  const auto rest = runs::ExecuteRun(scenario_.Request(dir_.path() / "run"),
                                     scenario_.Parts(backbone_.get(), &evaluator_), &fresh, {});
  ASSERT_TRUE(rest.ok());
  EXPECT_TRUE(rest->finished());
}

TEST_F(RunTest, AnotherCommandIsRefusedAndSaysWhatDiffers) {
  ASSERT_TRUE(Execute().ok());
  scenario_.recipe.step.turns = 3;
  const auto other = Execute();
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.status().message(), HasSubstr("rollout.turns is 2 there and 3 here"));
  scenario_.recipe.step.turns = 2;
  // Whatever changes what is asked is another run.
  const auto refused_after = [&](const char* what, auto change, auto restore) {
    change();
    const auto changed = Execute();
    EXPECT_FALSE(changed.ok()) << what;
    if (!changed.ok()) {
      EXPECT_THAT(changed.status().message(), HasSubstr(what));
    }
    restore();
  };
  rollout::StepSettings& step = scenario_.recipe.step;
  refused_after(
      "llm.context_tokens", [&] { step.context_tokens = 4096; },
      [&] { step.context_tokens = 32768; });
  refused_after(
      "feedback.max_bytes", [&] { step.feedback.max_bytes -= 1; },
      [&] { step.feedback.max_bytes += 1; });
  refused_after(
      "stop.stagnant_turns", [&] { step.stop.stagnant_turns = 1; },
      [&] { step.stop.stagnant_turns = 3; });
  refused_after(
      "agents.prompts", [&] { scenario_.prompts_identity = "other"; },
      [&] { scenario_.prompts_identity.clear(); });
}

TEST_F(RunTest, TwoProcessesAreNotLetAtOneRun) {
  ASSERT_TRUE(Execute().ok());
  const auto first = store::RunStore::Open(dir_.path() / "run");
  ASSERT_TRUE(first.ok());
  const auto second = Execute();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(second.status().message(), HasSubstr("another process is working on the run"));
}

TEST_F(RunTest, AFullDiskIsAClearErrorAndLosesNothing) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, RLIM_INFINITY};  // of each file
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto result = Execute();
    const Status status = result.ok() ? result->trouble : result.status();
    const bool clear = status.code() == StatusCode::kResourceExhausted &&
                       status.message().find("same command") != std::string::npos;
    if (!clear) fmt::print(stderr, "{}\n", status.ToString());
    ::_exit(clear ? 0 : 1);
  }
  int wait_status = 0;
  ASSERT_EQ(::waitpid(child, &wait_status, 0), child);
  EXPECT_EQ(WEXITSTATUS(wait_status), 0);
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished());
  EXPECT_THAT(result->learned, ElementsAre("keep-rows-in-registers"));
}

}  // namespace
}  // namespace davinci::integration
