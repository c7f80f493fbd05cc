// The whole step of co-evolution around a scripted model and judge: order, resuming, replay,
// budgets, isolation.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "davinci/base/files.h"
#include "davinci/llm/ledger.h"
#include "davinci/runs/certify.h"
#include "davinci/skill/formats.h"
#include "scenario.h"

namespace davinci::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("run-test");
    ASSERT_TRUE(dir.ok());
    dir_ = std::move(dir).value();
    scenario_ = Scenario::Make(dir_.path());
  }

  Result<runs::RunResult> Execute(const std::string& name = "run") {
    if (!backbone_)
      backbone_ = std::make_unique<SlowRecording>(scenario_.Replies(), 0, dir_.path() / "calls");
    runs::RunParts parts = scenario_.Parts(backbone_.get(), &evaluator_);
    if (!author_.verdicts.empty()) parts.author = &author_;
    parts.author_alone = author_alone_;
    return runs::ExecuteRun(scenario_.Request(dir_.path() / name), parts, &stop_, {});
  }
  int NumCalls() const {
    const auto log = ReadFile(dir_.path() / "calls");
    return log.ok() ? static_cast<int>(std::count(log->begin(), log->end(), '\n')) : 0;
  }

  TempDir dir_;
  Scenario scenario_;
  ScriptedEvaluator evaluator_{0};
  std::unique_ptr<SlowRecording> backbone_;
  ScriptedAuthor author_;
  bool author_alone_ = false;
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
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  EXPECT_EQ(NumCalls(), 0);
  EXPECT_EQ(result->cost.calls, 0);
  EXPECT_EQ(runs::ToJson(*result)["tasks"][1]["winner"]["by"], "expert");
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

TEST_F(RunTest, EveryGoodRolloutIsALessonAndAFirstTurnWithoutCodeFailsNothing) {
  scenario_.replies["alpha@1#s0r0t1"] = "I would rather talk about it.";
  scenario_.replies["alpha@1#s0r0t2"] = Reply("ok 3.9", "from nothing");
  scenario_.replies["alpha@1#s1r2t1"] = Reply("ok 1.4", "another first loop");
  scenario_.replies["alpha@1#s1r2t2"] = Reply("ok 3.0", "another way of tiles");
  scenario_.recipe.step.trigger.require_first_correct = false;
  // The second lesson had no skills, so its control is another prompt.
  for (int sample = 0; sample < 12; ++sample) {
    const std::string label = fmt::format("alpha@1/verify/without/{}", sample);
    scenario_.replies[label + "/lesson/1"] = scenario_.replies[label];
  }
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  std::set<std::string> summarised;
  for (const SkillProposal& proposal : result->view.tasks[0].proposals)
    summarised.insert(ToString(proposal.after));
  EXPECT_THAT(summarised, ::testing::UnorderedElementsAre("alpha@1#s1r0t2", "alpha@1#s0r0t2",
                                                          "alpha@1#s1r2t2"));
}

TEST_F(RunTest, WhatTheLibraryRefusesIsNotPaidFor) {
  // The text of the skill that is there, under another name.
  const auto skills = skill::ReadSkills(dir_.path() / "skills.jsonl");
  ASSERT_TRUE(skills.ok());
  nlohmann::json twin = {{"name", "rows-by-tiles"},
                         {"description", "When softmax rows are long"},
                         {"scope", "general"},
                         {"tags", {"rows", "softmax", "cpp"}},
                         {"content", skills->documents[0].skill.content}};
  scenario_.replies["alpha@1/summary/1"] =
      "<tool_call>\n" +
      nlohmann::json{{"name", "update_skill_library"},
                     {"arguments", {{"think", "t"}, {"new_skills", {twin}}}}}
          .dump() +
      "\n</tool_call>";
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  for (const SkillProposal& proposal : result->view.tasks[0].proposals) {
    if (proposal.name == "rows-by-tiles") {
      EXPECT_THAT(proposal.refused, HasSubstr("near-duplicate of \"tile-rows\""));
    }
  }
  EXPECT_THAT(*ReadFile(dir_.path() / "calls"), ::testing::Not(HasSubstr("verify/with/1.0")));
}

TEST_F(RunTest, ABetterVersionIsComparedWithTheOldOneAndReplacesIt) {
  nlohmann::json better = {
      {"name", "tile-rows"},
      {"description", "When softmax rows are long: tile and keep them"},
      {"scope", "general"},
      {"tags", {"rows", "cpp", "tiles"}},
      {"content",
       "## Motivation\nEverything is different here.\n\n## Key Idea\nKeep each tile in "
       "vector registers.\n\n## Example\n```cpp\nfor (;;) keep();\n```\n"}};
  scenario_.replies["alpha@1/summary/0"] =
      "<tool_call>\n" +
      nlohmann::json{{"name", "update_skill_library"},
                     {"arguments", {{"think", "t"}, {"new_skills", {better}}}}}
          .dump() +
      "\n</tool_call>";
  // Its control is the prompt that has the old version.
  for (int sample = 0; sample < 12; ++sample) {
    const std::string label = fmt::format("alpha@1/verify/without/{}", sample);
    scenario_.replies[label + "/version/tile-rows"] = scenario_.replies[label];
  }
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  EXPECT_THAT(result->learned, ElementsAre("tile-rows"));
  auto library = skill::Library::Open(dir_.path() / "run/library.sqlite", {});
  ASSERT_TRUE(library.ok());
  EXPECT_THAT((*(*library)->Get("tile-rows"))->skill.content, HasSubstr("vector registers"));
}

TEST_F(RunTest, AnotherTaskTakesPartInTheExperimentWhereOneFits) {
  // The proposal speaks of softmax, which is what beta computes.
  std::string& reply = scenario_.replies["alpha@1/summary/0"];
  reply.replace(reply.find("\"reduction\""), 11, "\"softmax\"");
  for (int sample = 1; sample < 12; sample += 2)
    for (const char* arm : {"without", "with/0.0"})
      scenario_.replies[fmt::format("alpha@1/verify/{}/{}/on/beta", arm, sample)] =
          Reply(fmt::format("ok {}.{:03}", arm[4] == '/' ? 4 : 2, sample),
                fmt::format("{} {}", arm, sample));
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  for (const Verification& verification : result->view.tasks[0].verifications) {
    std::set<std::string> tasks;
    for (const VerificationSample& sample : verification.samples) tasks.insert(sample.task);
    EXPECT_EQ(tasks.size(), verification.summary == 0 ? 2u : 1u);
  }
  EXPECT_THAT(result->learned, ElementsAre("keep-rows-in-registers"));
  auto library = skill::Library::Open(dir_.path() / "run/library.sqlite", {});
  EXPECT_THAT((*(*library)->Get("keep-rows-in-registers"))->evidence[0].tasks,
              ElementsAre("alpha", "beta"));
}

TEST_F(RunTest, OnlySkillsForTheTargetAreShownAndSelectionNeedsNoModel) {
  const std::string line = *ReadFile(dir_.path() / "skills.jsonl");
  std::string other = line;
  other.replace(other.find("tile-rows"), 9, "warp-rows");
  other.replace(other.find("\"cpp\""), 5, "\"triton\"");
  other.replace(other.find("Treat a softmax row"), 19,
                "Give each warp a row of softmax, as it were,");
  ASSERT_TRUE(WriteFileAtomic(dir_.path() / "skills.jsonl", line + other).ok());
  scenario_.recipe.step.selection = rollout::SelectionMethod::kBm25;
  scenario_.recipe.step.schemes = 1;
  scenario_.recipe.step.null_scheme = false;
  scenario_.recipe.step.learn = false;
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  for (const report::TaskView& task : result->view.tasks) {
    ASSERT_EQ(task.selections.size(), 1u);
    EXPECT_THAT(task.selections[0].chosen, ElementsAre("tile-rows"));
    EXPECT_EQ(task.trajectories.size(), 2u);
  }
  EXPECT_THAT(*ReadFile(dir_.path() / "calls"), ::testing::Not(HasSubstr("selection")));
}

TEST_F(RunTest, AKernelThatIsNotSignificantlyFasterIsNoWinner) {
  for (auto& [label, text] : scenario_.replies)
    if (label.starts_with("beta@1#")) text = Reply("ok 1.01", label);
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  const report::TaskView& beta = result->view.tasks[1];
  EXPECT_FALSE(beta.winner);
  ASSERT_TRUE(beta.not_faster);
  EXPECT_THAT(beta.remark, HasSubstr("not significantly faster"));
  const nlohmann::json document = runs::ToJson(*result);
  EXPECT_TRUE(document["tasks"][1]["winner"].is_null());
  EXPECT_TRUE(document["tasks"][1]["not_faster"].is_object());
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "run/results/beta.py"));
  EXPECT_TRUE(result->view.tasks[0].winner);
}

// One task, so that certifications have an order.
class CertificationTest : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    scenario_.tasks.resize(1);
    scenario_.recipe.certify_attempts = 1;
  }
  nlohmann::json Task(const runs::RunResult& result) { return runs::ToJson(result)["tasks"][0]; }
  std::string Page() { return *ReadFile(dir_.path() / "run/report.html"); }
};

TEST_F(CertificationTest, WhatABusyMachineCouldNotMeasureIsMeasuredUpToThreeTimes) {
  evaluator_.busy = 2;
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(evaluator_.num_afresh, 3);
  ASSERT_TRUE(result->view.tasks[0].winner);
  EXPECT_DOUBLE_EQ(result->view.tasks[0].winner->certified.speedup->median, 4.5);
  EXPECT_THAT(result->view.tasks[0].remark, Not(HasSubstr("busy")));
  // A replay takes the measurement that decided.
  const auto replay = runs::ReplayRun(dir_.path() / "run", {});
  ASSERT_TRUE(replay.ok());
  EXPECT_EQ(Task(*replay)["winner"]["certified"], Task(*result)["winner"]["certified"]);
}

TEST_F(CertificationTest, NotDecidedIsNoNoAndTheSameCommandMeasuresAgainWithoutAModel) {
  evaluator_.busy = 100;
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(evaluator_.num_afresh, runs::kCertificationMeasurements);
  const report::TaskView& task = result->view.tasks[0];
  EXPECT_FALSE(task.winner || task.not_faster);
  ASSERT_TRUE(task.not_decided);
  EXPECT_THAT(task.remark, HasSubstr("is not decided: machine busy"));
  EXPECT_THAT(task.remark, Not(HasSubstr("not significantly faster")));
  EXPECT_EQ(Task(*result)["state"], "not_decided");
  // The page says what the console says, and holds no median of a useless interval.
  EXPECT_THAT(Page(), HasSubstr("<td>not decided: machine busy</td>"));
  EXPECT_THAT(Page(), Not(HasSubstr("9.00×")));
  EXPECT_EQ(Task(*runs::ReplayRun(dir_.path() / "run", {}))["state"], "not_decided");
  EXPECT_EQ(evaluator_.num_afresh, runs::kCertificationMeasurements);

  const int calls = NumCalls();
  evaluator_.busy = 0;
  const auto again = Execute();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(NumCalls(), calls);
  ASSERT_TRUE(again->view.tasks[0].winner);
  EXPECT_TRUE(std::filesystem::exists(again->view.tasks[0].winner->exported_path));
  EXPECT_THAT(Page(), HasSubstr("<td>certified</td>"));
  // Decided now: nothing is measured any more.
  const int measured = evaluator_.num_afresh;
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(evaluator_.num_afresh, measured);
}

TEST_F(CertificationTest, RecertifyAsksNoModelAndItsLatestDecisionCounts) {
  ASSERT_TRUE(Execute()->view.tasks[0].winner);
  const fs::path exported = dir_.path() / "run/results/alpha.py";
  EXPECT_TRUE(fs::exists(exported));
  const int measured = evaluator_.num_afresh;
  const int calls = NumCalls();
  const auto recertify = [&] {
    runs::RunParts parts = scenario_.Parts(nullptr, &evaluator_);
    return runs::RecertifyRun(dir_.path() / "run", "", parts, &stop_, {});
  };
  // Undecided: what was decided before stays.
  evaluator_.busy = 3;
  auto result = recertify();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished()) << runs::ToJson(*result).dump();
  EXPECT_TRUE(result->view.tasks[0].winner);
  EXPECT_EQ(evaluator_.num_afresh, measured + 3);
  // Wrong when measured again: no winner, and its file goes.
  evaluator_.before = [](const judge::EvaluationRequest& request) {
    return request.afresh ? InvalidArgument("no such input") : Status::Ok();
  };
  result = recertify();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->view.tasks[0].winner) << "a judge that fails takes nothing back";
  evaluator_.before = nullptr;
  evaluator_.wrong_afresh = true;
  result = recertify();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->view.tasks[0].winner);
  EXPECT_EQ(Task(*result)["state"], "none_held");
  EXPECT_FALSE(fs::exists(exported));
  EXPECT_EQ(NumCalls(), calls);
  ASSERT_TRUE(WriteFileAtomic(dir_.path() / "alpha.py", "another = 1\n").ok());
  EXPECT_THAT(recertify().status().message(), HasSubstr("alpha.py has changed"));
}

TEST_F(CertificationTest, AKernelThatIsSurelyNotFasterIsMeasuredOnce) {
  for (auto& [label, text] : scenario_.replies)
    if (label.starts_with("alpha@1#")) text = Reply("ok 1.01", label);
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(evaluator_.num_afresh, 1);
  EXPECT_EQ(Task(*result)["state"], "not_faster");
  EXPECT_THAT(Page(), HasSubstr("<td>not faster</td>"));
}

TEST_F(RunTest, AKernelThatItsExportDoesNotRunIsNoWinner) {
  for (auto& [label, text] : scenario_.replies)
    if (label.starts_with("beta@1#")) text = Reply("ok 3.0 falls back", label);
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  const report::TaskView& beta = result->view.tasks[1];
  EXPECT_FALSE(beta.winner);
  EXPECT_THAT(beta.remark, HasSubstr("its export would run the reference: weight is gone"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "run/results/beta.py"));
  EXPECT_TRUE(result->view.tasks[0].winner);
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
      (turn.judged_before ? taken_over : measured).push_back(turn.evaluation.speedup->high);
  EXPECT_EQ(measured.size(), size_t{rollout::kMostMeasurements});
  EXPECT_EQ(taken_over.size(), 12u - measured.size());
  for (const double high : taken_over) EXPECT_DOUBLE_EQ(high, 1.1 * 1.3);
  // Certification alone is tried again, because such intervals decide nothing.
  const int calls = evaluator_.num_calls - evaluator_.num_afresh;
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(evaluator_.num_calls - evaluator_.num_afresh, calls);
}

TEST_F(RunTest, AFailedComparisonIsNotRepeatedWhenTheRunIsShownAgain) {
  scenario_.recipe.also_against = {"compile"};
  std::atomic<int> compiled = 0;
  evaluator_.before = [&](const judge::EvaluationRequest& request) {
    if (request.baseline != "compile") return Status::Ok();
    ++compiled;
    return Internal("torch.compile found no compiler");
  };
  for (int i = 0; i < 2; ++i) {
    const auto result = Execute();
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->view.tasks[0].winner.has_value());
    EXPECT_THAT(result->view.tasks[0].remark, HasSubstr("torch.compile found no compiler"));
    // Of each of the two winners as often as the service tries, in the first process.
    EXPECT_EQ(compiled, 2 * judge::kServiceAttempts);
  }
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
