// One step of co-evolution around a scripted model and judge: order, authors, calls, isolation.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "davinci/base/files.h"
#include "run_fixture.h"

namespace davinci::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
  // Pairs are drawn until it is decided: at once, by futility, and when four pairs are lost.
  const std::map<int, size_t> pairs = {{0, 3}, {1, 6}, {2, 8}};
  for (const Verification& verification : alpha.verifications)
    EXPECT_EQ(verification.samples.size(), 2 * pairs.at(verification.summary))
        << verification.reason;
  EXPECT_THAT(result->learned, ElementsAre("keep-rows-in-registers"));
  EXPECT_THAT(result->view.tasks[1].proposals, IsEmpty());
  EXPECT_THAT(result->view.tasks[1].remark, HasSubstr("no summary"));
  ASSERT_TRUE(alpha.winner);
  EXPECT_EQ(ToString(alpha.winner->turn), "alpha@1#s1r0t2");
  EXPECT_TRUE(std::filesystem::exists(alpha.winner->exported_path));
  EXPECT_TRUE(std::filesystem::exists(dir_.path() / "run/report.html"));
}

TEST_F(RunTest, RulesWriteTheFirstRolloutAndTheModelIsShownItsBestKernel) {
  author_.verdicts["alpha"] = {"ok 5.0", "wrong"};
  std::map<std::string, std::string> prompts;
  std::mutex mutex;
  backbone_ = std::make_unique<SlowRecording>(scenario_.Replies(), 0, dir_.path() / "calls");
  backbone_->before = [&](const llm::Request& request) {
    const std::lock_guard lock(mutex);
    for (const llm::Message& message : request.messages) prompts[request.label] += message.content;
    return Status::Ok();
  };
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  const std::string& shown = prompts.at("alpha@1#s0r0t1");
  EXPECT_THAT(shown, HasSubstr("# verdict: ok 5.0"));
  EXPECT_THAT(shown, HasSubstr("# The kernel to beat"));
  EXPECT_THAT(shown, HasSubstr("sort (net.py:3; no rule)"));
  EXPECT_THAT(prompts.at("beta@1#s0r0t1"), Not(HasSubstr("The kernel to beat")));
  const report::TaskView& alpha = result->view.tasks[0];
  ASSERT_TRUE(alpha.winner);
  EXPECT_EQ(report::AuthorOf(alpha, alpha.winner->turn), report::Author::kExpert);
  const auto rules = std::ranges::find_if(alpha.trajectories, [](const Trajectory& one) {
    return report::AuthorOf(one) == report::Author::kExpert;
  });
  ASSERT_NE(rules, alpha.trajectories.end());
  EXPECT_THAT(rules->skills, ElementsAre("tile-rows"));
  EXPECT_EQ(rules->turns.size(), 2u);
  EXPECT_EQ(result->cost.calls, NumCalls()) << "rules cost nothing";
  // What the model learned is the model's.
  EXPECT_THAT(result->learned, ElementsAre("keep-rows-in-registers"));
  const nlohmann::json document = runs::ToJson(*result);
  EXPECT_EQ(document["tasks"][0]["winner"]["by"], "expert");
  EXPECT_EQ(document["tasks"][0]["best_of"]["model"]["status"], "ok");
  EXPECT_THAT(*ReadFile(dir_.path() / "run/report.html"), HasSubstr("the expert won"));
  const int judged = evaluator_.num_calls;
  ASSERT_TRUE(Execute().ok());  // again: nothing is written or judged twice
  EXPECT_EQ(evaluator_.num_calls, judged);
  const auto replay = runs::ReplayRun(dir_.path() / "run", {});
  ASSERT_TRUE(replay.ok());
  const nlohmann::json again = runs::ToJson(*replay)["tasks"][0];
  EXPECT_EQ(again["winner"]["turn"], document["tasks"][0]["winner"]["turn"]);
  EXPECT_EQ(again["winner"]["skills"], document["tasks"][0]["winner"]["skills"]);
  EXPECT_EQ(again["best_of"], document["tasks"][0]["best_of"]);
}

TEST_F(RunTest, AModelThatIsFasterThanTheRulesWins) {
  author_.verdicts["alpha"] = {"ok 1.2"};
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  const nlohmann::json alpha = runs::ToJson(*result)["tasks"][0];
  EXPECT_EQ(alpha["winner"]["by"], "model");
  EXPECT_DOUBLE_EQ(alpha["best_of"]["expert"]["speedup"]["median"].get<double>(), 1.2);
}

TEST_F(RunTest, RulesAloneAskNoModel) {
  for (const char* task : {"alpha", "beta"}) author_.verdicts[task] = {"ok 2.0"};
  author_alone_ = true;
  scenario_.recipe.step.schemes = 0;
  scenario_.recipe.step.learn = false;
  std::atomic<int> references = 0;
  evaluator_.before = [&](const judge::EvaluationRequest& request) {
    references += request.candidate.find("# verdict: ") == std::string::npos ? 1 : 0;
    return Status::Ok();
  };
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  EXPECT_EQ(NumCalls(), 0);
  EXPECT_EQ(result->cost.calls, 0);
  EXPECT_EQ(runs::ToJson(*result)["tasks"][1]["winner"]["by"], "expert");
  EXPECT_EQ(references, 0) << "who asks no model needs no probe";
  // A replay is not told who wrote.
  const auto replay = runs::ReplayRun(dir_.path() / "run", {});
  ASSERT_TRUE(replay.ok()) << replay.status().ToString();
  EXPECT_EQ(runs::ToJson(*replay)["tasks"][1]["winner"]["by"], "expert");
}

TEST_F(RunTest, EveryCallIsCountedOnceAndByAgent) {
  // A summary that proposes nothing costs as well.
  scenario_.replies["alpha@1/summary/1"] =
      "<tool_call>\n{\"name\": \"update_skill_library\", \"arguments\": {\"think\": \"none\", "
      "\"new_skills\": []}}\n</tool_call>";
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->cost.calls, NumCalls());
  const auto costs = report::CostsByAgent(result->view.tasks[0]);
  EXPECT_EQ(costs.at("selection").calls, 2);
  EXPECT_EQ(costs.at("policy").calls, 12);
  EXPECT_EQ(costs.at("summary").calls, 3);
  // Two experiments of 3 and 8 pairs, whose controls are the same eight.
  EXPECT_EQ(costs.at("verification").calls, 3 + 8 + 8);
  EXPECT_EQ(report::CostsByAgent(result->view.tasks[1]).count("summary"), 0u);
  const nlohmann::json document = runs::ToJson(*result);
  EXPECT_EQ(document["costs"]["verification"]["calls"], 19);
  EXPECT_EQ(document["tasks"][1]["costs"]["policy"]["calls"], 12);
}

TEST_F(RunTest, AKernelThatIsOnlyPyTorchIsLabelledAndRefusedWhereOneIsAsked) {
  const auto labelled = Execute();
  ASSERT_TRUE(labelled.ok());
  const report::TaskView& alpha = labelled->view.tasks[0];
  EXPECT_THAT(alpha.trajectories[0].turns[0].evaluation.labels, ElementsAre("only PyTorch"));
  ASSERT_TRUE(alpha.winner);
  EXPECT_THAT(alpha.winner->explanation, HasSubstr("only calls PyTorch"));
  scenario_.recipe.step.require_own_kernel = true;
  const auto refused = Execute("own");
  ASSERT_TRUE(refused.ok());
  EXPECT_FALSE(refused->view.tasks[0].winner);
  for (const Trajectory& trajectory : refused->view.tasks[0].trajectories)
    for (const Turn& turn : trajectory.turns)
      EXPECT_NE(turn.evaluation.outcome, Outcome::kOk) << turn.evaluation.message;
}

TEST_F(RunTest, TheLanguageIsEnforcedWhereTheUserNamedOne) {
  scenario_.recipe.step.require_language = true;
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  const Turn& turn = result->view.tasks[0].trajectories[0].turns[0];
  EXPECT_EQ(turn.evaluation.outcome, Outcome::kPolicyViolation);
  EXPECT_THAT(turn.evaluation.message, HasSubstr("this task asks for C++"));
  // Only the two probes were judged.
  EXPECT_EQ(evaluator_.num_calls, 2);
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

TEST_F(RunTest, ANoisyTimeIsMeasuredAgainAndTheNarrowestIntervalShared) {
  for (auto& [label, text] : scenario_.replies)
    if (label.starts_with("beta@1#")) text = Reply("ok 1.1 noisy", "always the same");
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  std::vector<double> measured;
  std::vector<double> taken_over;
  for (const Trajectory& trajectory : result->view.tasks[1].trajectories)
    for (const Turn& turn : trajectory.turns)
      (turn.judged_before ? taken_over : measured).push_back(turn.evaluation.speedup.value().high);
  EXPECT_EQ(measured.size(), size_t{rollout::kMostMeasurements});
  EXPECT_EQ(taken_over.size(), 12u - measured.size());
  for (const double high : taken_over) EXPECT_DOUBLE_EQ(high, 1.1 * 1.3);
  // Certification alone is tried again, because such intervals decide nothing.
  const int calls = evaluator_.num_calls - evaluator_.num_afresh;
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(evaluator_.num_calls - evaluator_.num_afresh, calls);
}

TEST_F(RunTest, ABrokenTaskHarmsNoOtherAndCostsNoCall) {
  evaluator_.before = [](const judge::EvaluationRequest& request) {
    return request.task->path.ends_with("beta.py") ? InvalidArgument("beta.py: forward raised")
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

TEST_F(RunTest, WithoutAProbeTheFirstReplyTellsThatATaskIsBroken) {
  scenario_.recipe.step.probe = false;
  std::atomic<int> references = 0;
  evaluator_.before = [&](const judge::EvaluationRequest& request) {
    if (request.candidate.find("# verdict: ") == std::string::npos) ++references;
    return request.task->path.ends_with("beta.py") ? InvalidArgument("beta.py: forward raised")
                                                   : Status::Ok();
  };
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(references, 0);
  ASSERT_EQ(result->failed_tasks.size(), 1u);
  EXPECT_EQ(result->failed_tasks[0].first, "beta");
  EXPECT_EQ(result->failed_tasks[0].second.message(), "beta.py: forward raised");
  EXPECT_TRUE(result->view.tasks[0].winner.has_value());
  EXPECT_EQ(result->view.device, "scripted") << "known from the replies' verdicts";
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

}  // namespace
}  // namespace davinci::integration
