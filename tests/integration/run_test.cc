// The whole step of co-evolution around a scripted model and judge: order, resuming, replay,
// budgets, isolation.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "davinci/base/files.h"
#include "davinci/llm/ledger.h"
#include "scenario.h"

namespace davinci::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("run-test");
    ASSERT_TRUE(dir.ok());
    dir_ = std::move(dir).value();
    scenario_ = Scenario::Make(dir_.path());
  }

  Result<orchestrator::RunResult> Execute(const std::string& name = "run") {
    if (!backbone_)
      backbone_ = std::make_unique<SlowRecording>(scenario_.Replies(), 0, dir_.path() / "calls");
    return orchestrator::ExecuteRun(scenario_.Request(dir_.path() / name),
                                    scenario_.Parts(backbone_.get(), &evaluator_), &stop_, {});
  }
  int NumCalls() const {
    const auto log = ReadFile(dir_.path() / "calls");
    return log.ok() ? static_cast<int>(std::count(log->begin(), log->end(), '\n')) : 0;
  }

  TempDir dir_;
  Scenario scenario_;
  ScriptedEvaluator evaluator_{0};
  std::unique_ptr<SlowRecording> backbone_;
  rollout::StopFlag stop_;
};

std::map<std::string, bool> Decisions(const report::TaskView& task) {
  std::map<std::string, bool> decisions;
  for (const Verification& verification : task.verifications)
    for (const SkillProposal& proposal : task.proposals)
      if (proposal.summary == verification.summary && proposal.proposal == verification.proposal)
        decisions[proposal.name] = verification.admitted;
  return decisions;
}

TEST_F(RunTest, OneStepSelectsRollsOutSummarisesVerifiesAndFlushes) {
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  const report::TaskView& alpha = result->view.tasks[0];
  // 3 schemes × 2 rollouts; the merged scheme's two go to the one with skills.
  ASSERT_EQ(alpha.selections.size(), 3u);
  EXPECT_EQ(alpha.selections[2].merged_into, 1);
  std::map<int, int> rollouts;
  for (const Trajectory& trajectory : alpha.trajectories) ++rollouts[trajectory.id.scheme];
  EXPECT_EQ(rollouts, (std::map<int, int>{{0, 2}, {1, 4}}));
  EXPECT_EQ(Decisions(alpha), (std::map<std::string, bool>{{"keep-rows-in-registers", true},
                                                           {"rename-loop-counters", false},
                                                           {"drop-the-tail", false}}));
  for (const Verification& verification : alpha.verifications) {
    EXPECT_EQ(verification.samples.size(), 6u);
    if (verification.summary == 2) {
      EXPECT_THAT(verification.reason, HasSubstr("correct"));
    }
  }
  EXPECT_THAT(result->learned, ElementsAre("keep-rows-in-registers"));
  EXPECT_THAT(result->view.tasks[1].proposals, IsEmpty());
  EXPECT_THAT(result->view.tasks[1].remark, HasSubstr("no summary"));
  ASSERT_TRUE(alpha.winner);
  EXPECT_EQ(ToString(alpha.winner->turn), "alpha@1#s1r0t2");
  EXPECT_TRUE(std::filesystem::exists(alpha.winner->exported_path));
  EXPECT_TRUE(std::filesystem::exists(dir_.path() / "run/report.html"));
}

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
  const auto replay = orchestrator::ReplayRun(dir_.path() / "run", {});
  ASSERT_TRUE(replay.ok()) << replay.status().ToString();
  auto comparable = [](const orchestrator::RunResult& r) {
    nlohmann::json document = orchestrator::ToJson(r);
    for (auto& task : document["tasks"])
      if (task["winner"].is_object()) task["winner"].erase("file");
    return document;
  };
  EXPECT_EQ(comparable(*replay), comparable(*result));
}

TEST_F(RunTest, IdenticalCandidatesAreJudgedOnce) {
  for (auto& [label, text] : scenario_.replies)
    if (label.starts_with("beta@1#")) text = Reply("ok 1.1", "always the same");
  ASSERT_TRUE(Execute().ok());
  auto run = store::RunStore::OpenForReading(dir_.path() / "run");
  ASSERT_TRUE(run.ok());
  int judged = 0;
  int turns = 0;
  ASSERT_TRUE((*run)
                  ->ForEach([&](const store::Unit& unit) {
                    if (unit.kind == "judgement" &&
                        unit.id.find("task=beta") != std::string::npos) {
                      ++turns;
                      judged += !unit.body["judged_before"].get<bool>();
                    }
                    return true;
                  })
                  .ok());
  EXPECT_EQ(turns, 12);
  EXPECT_EQ(judged, 1);
}

TEST_F(RunTest, ABrokenTaskHarmsNoOtherAndCostsNoCall) {
  evaluator_.before = [](const rollout::Question& question) {
    return question.task_path.ends_with("beta.py") ? InvalidArgument("beta.py: forward raised")
                                                   : Status::Ok();
  };
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->failed_tasks.size(), 1u);
  EXPECT_EQ(result->failed_tasks[0].first, "beta");
  EXPECT_TRUE(result->view.tasks[0].winner.has_value());
  EXPECT_THAT(result->learned, ElementsAre("keep-rows-in-registers"));
  EXPECT_THAT(*ReadFile(dir_.path() / "calls"), ::testing::Not(HasSubstr("beta")));
  // Mended, the same command does the rest.
  evaluator_.before = nullptr;
  const auto mended = Execute();
  ASSERT_TRUE(mended.ok());
  EXPECT_TRUE(mended->finished()) << mended->trouble.ToString();
}

TEST_F(RunTest, AFailedRolloutHarmsNoOtherAndIsDoneAgain) {
  backbone_ = std::make_unique<SlowRecording>(scenario_.Replies(), 0, dir_.path() / "calls");
  backbone_->before = [](const llm::Request& request) {
    return request.label == "beta@1#s0r1t2" ? Unavailable("the endpoint is gone") : Status::Ok();
  };
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->finished());
  int failed = 0;
  for (const Trajectory& trajectory : result->view.tasks[1].trajectories)
    failed += trajectory.end == TrajectoryEnd::kFailed;
  EXPECT_EQ(failed, 1);
  const int calls = NumCalls();
  backbone_->before = nullptr;
  const auto again = Execute();
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->finished());
  EXPECT_EQ(NumCalls(), calls + 1);
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
    orchestrator::RunParts parts = scenario_.Parts(&backbone, &evaluator_);
    parts.ledger = &ledger;
    rollout::StopFlag stop;
    const auto result =
        orchestrator::ExecuteRun(scenario_.Request(dir_.path() / "run"), parts, &stop, {});
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
  const auto rest =
      orchestrator::ExecuteRun(scenario_.Request(dir_.path() / "run"),
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
