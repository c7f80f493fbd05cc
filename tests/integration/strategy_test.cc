// Every strategy on the shipped recordings, around a scripted judge: what is asked, that it ends,
// and that a run that was stopped asks nothing twice.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "davinci/base/files.h"
#include "davinci/llm/recorded.h"
#include "davinci/runs/task_inputs.h"
#include "scenario.h"

namespace davinci::integration {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Passes on and keeps what was asked.
class Listening : public llm::Backbone {
 public:
  explicit Listening(llm::Backbone* inner) : inner_(inner) {}
  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken& cancel) override {
    {
      const std::lock_guard lock(mutex_);
      if (num_calls_left-- <= 0) return Unavailable("the endpoint is gone");
      asked[request.label] = request;
    }
    return inner_->Generate(request, cancel);
  }
  std::string Name() const override { return inner_->Name(); }

  std::map<std::string, llm::Request> asked;
  int num_calls_left = 1'000'000;

 private:
  llm::Backbone* const inner_;
  std::mutex mutex_;  // guards the rest
};

class StrategyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("strategy-test");
    ASSERT_TRUE(dir.ok());
    dir_ = std::move(dir).value();
    scenario_ = Scenario::Make(dir_.path());
    auto tasks = runs::LoadTasks({DAVINCI_SOURCE_DIR "/examples/gated_gelu.py",
                                  DAVINCI_SOURCE_DIR "/examples/residual_rms_norm.py"},
                                 {});
    ASSERT_TRUE(tasks.ok());
    scenario_.tasks = *tasks;
    auto recorded = llm::RecordedBackbone::Open(DAVINCI_SOURCE_DIR "/examples/replies_cpu.jsonl",
                                                nullptr, llm::RecordingGaps::kDraw);
    ASSERT_TRUE(recorded.ok());
    recorded_ = std::move(recorded).value();
    listening_ = std::make_unique<Listening>(recorded_.get());
  }

  runs::RunResult Execute(const std::vector<std::string>& sets) {
    config::Recipe recipe;
    for (const std::string& set : sets) EXPECT_TRUE(recipe.Override(set).ok()) << set;
    for (const char* set : {"task.target=\"cpu\"", "selection.schemes=0", "stop.stagnant_turns=0",
                            "certify.also_against=[]"})
      EXPECT_TRUE(recipe.Override(set).ok()) << set;
    const auto read = runs::ReadRecipe(recipe, &scenario_.resolved);
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    scenario_.recipe = *read;
    rollout::StopFlag stop;
    auto request = scenario_.Request(dir_.path() / "run");
    request.header.command = "bench";
    request.winners = false;
    auto result =
        runs::ExecuteRun(request, scenario_.Parts(listening_.get(), &evaluator_), &stop, {});
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return std::move(result).value();
  }
  // Text of the last message of a request.
  std::string Asked(const std::string& label) const {
    const auto found = listening_->asked.find(label);
    return found == listening_->asked.end() ? "" : found->second.messages.back().content;
  }

  TempDir dir_;
  Scenario scenario_;
  ScriptedEvaluator evaluator_{0};
  std::unique_ptr<llm::RecordedBackbone> recorded_;
  std::unique_ptr<Listening> listening_;
};

TEST_F(StrategyTest, KevinShowsKernelsAndVerdictsWithoutReasoning) {
  const auto result =
      Execute({"search.strategy=\"kevin\"", "rollout.rollouts=3", "rollout.turns=4"});
  ASSERT_TRUE(result.finished()) << result.trouble.ToString();
  for (const report::TaskView& task : result.view.tasks) {
    ASSERT_EQ(task.trajectories.size(), 3u);
    for (const Trajectory& trajectory : task.trajectories) EXPECT_EQ(trajectory.turns.size(), 4u);
  }
  const llm::Request& third = listening_->asked.at("gated_gelu@1#s0r1t3");
  ASSERT_EQ(third.messages.size(), 6u);
  EXPECT_THAT(third.messages[1].content, Not(HasSubstr("Example of the form")));
  EXPECT_TRUE(third.messages[2].content.starts_with("```python"));
  EXPECT_THAT(third.messages[3].content, HasSubstr("Turn 1 of 4"));
  EXPECT_THAT(Asked("gated_gelu@1#s0r1t1"), HasSubstr("Example of the form"));
}

TEST_F(StrategyTest, BestOfNAsksTheSameQuestionWithOtherSeeds) {
  const auto result = Execute({"search.strategy=\"best_of_n\"", "rollout.rollouts=6"});
  ASSERT_TRUE(result.finished()) << result.trouble.ToString();
  ASSERT_EQ(listening_->asked.size(), 12u);
  EXPECT_EQ(Asked("gated_gelu@1#s0r0t1"), Asked("gated_gelu@1#s0r5t1"));
  EXPECT_NE(listening_->asked.at("gated_gelu@1#s0r0t1").seed,
            listening_->asked.at("gated_gelu@1#s0r5t1").seed);
}

TEST_F(StrategyTest, EvolveSpendsItsTrialsAndEachLayerIsABlockOfThePrompt) {
  const std::vector<std::string> base = {"search.strategy=\"evolve\"", "evolve.trials=8",
                                         "evolve.population=3", "evolve.offspring=2"};
  const auto result = Execute(base);
  ASSERT_TRUE(result.finished()) << result.trouble.ToString();
  EXPECT_EQ(result.view.tasks[0].trajectories.size(), 8u);
  EXPECT_EQ(listening_->asked.size(), 16u);
  EXPECT_THAT(Asked("gated_gelu@1#s0r0t1"),
              AllOf(HasSubstr("Insight:"), Not(HasSubstr("# The best kernel so far"))));
  const std::string crossover = Asked("gated_gelu@1#s0r3t1");
  EXPECT_THAT(crossover,
              AllOf(HasSubstr("# The best kernel so far"), HasSubstr("# Kernels to work"),
                    HasSubstr("# What earlier attempts"), HasSubstr("Combine what is")));
  EXPECT_THAT(Asked("gated_gelu@1#s0r4t1"), HasSubstr("Change the kernel above"));
  std::filesystem::remove_all(dir_.path() / "run");
  auto layers = base;
  layers.emplace_back("evolve.layers=[\"task\"]");
  layers.emplace_back("evolve.policy=\"single_best\"");
  ASSERT_TRUE(Execute(layers).finished());
  EXPECT_THAT(Asked("gated_gelu@1#s0r3t1"),
              AllOf(HasSubstr("# The best kernel so far"), Not(HasSubstr("# Kernels to work")),
                    Not(HasSubstr("# What earlier attempts"))));
}

TEST_F(StrategyTest, EveryStrategyGoesOnWhereItStoppedAndAsksTheSame) {
  const std::map<std::string, std::vector<std::string>> budgets = {
      {"davinci", {"rollout.rollouts=1", "rollout.turns=3"}},
      {"kevin", {"rollout.rollouts=2", "rollout.turns=3"}},
      {"best_of_n", {"rollout.rollouts=6"}},
      {"evolve", {"evolve.trials=6", "evolve.population=2", "evolve.offspring=2"}}};
  for (const std::string& name : search::StrategyNames()) {
    SCOPED_TRACE(name);
    std::vector<std::string> sets = budgets.at(name);
    sets.push_back(fmt::format("search.strategy=\"{}\"", name));
    listening_->asked.clear();
    ASSERT_TRUE(Execute(sets).finished());
    const auto whole = listening_->asked;
    std::filesystem::remove_all(dir_.path() / "run");
    listening_->asked.clear();
    listening_->num_calls_left = static_cast<int>(whole.size()) / 2;
    EXPECT_FALSE(Execute(sets).finished());
    const auto first_half = listening_->asked;
    listening_->asked.clear();
    listening_->num_calls_left = 1'000'000;
    ASSERT_TRUE(Execute(sets).finished());
    EXPECT_EQ(first_half.size() + listening_->asked.size(), whole.size()) << "paid twice";
    for (const auto& half : {first_half, listening_->asked})
      for (const auto& [label, request] : half)
        EXPECT_EQ(llm::ContentHash(request), llm::ContentHash(whole.at(label))) << label;
    const auto replay = runs::ReplayRun(dir_.path() / "run", {});
    ASSERT_TRUE(replay.ok());
    EXPECT_EQ(replay->view.tasks[0].trajectories.size(), name == "davinci" ? 1u
                                                         : name == "kevin" ? 2u
                                                                           : 6u);
    std::filesystem::remove_all(dir_.path() / "run");
  }
}

TEST_F(StrategyTest, ADrawnReplySaysThatItWasDrawn) {
  llm::Request request;
  request.label = "gated_gelu@1#s0r7t5";
  const auto reply = recorded_->Generate(request, {});
  ASSERT_TRUE(reply.ok());
  // 6 replies of 2 rollouts: number 7 + 2 * 4 modulo 6.
  EXPECT_THAT(reply->endpoint, HasSubstr("drawn: this reply was recorded for gated_gelu@1#s1r0t2"));
  request.label = "another@1#s0r0t1";
  EXPECT_EQ(recorded_->Generate(request, {}).status().code(), StatusCode::kNotFound);
  auto strict =
      llm::RecordedBackbone::Open(DAVINCI_SOURCE_DIR "/examples/replies_cpu.jsonl", nullptr);
  request.label = "gated_gelu@1#s0r7t5";
  EXPECT_EQ((*strict)->Generate(request, {}).status().code(), StatusCode::kNotFound);
}

TEST_F(StrategyTest, EachRoleAsksItsOwnModel) {
  scenario_ = Scenario::Make(dir_.path());
  llm::RecordedBackbone recorded(scenario_.Replies(), "recorded:test");
  Listening general(&recorded);
  Listening selection(&recorded);
  Listening summary(&recorded);
  runs::RunParts parts = scenario_.Parts(&general, &evaluator_);
  parts.backbones.selection = &selection;
  parts.backbones.summary = &summary;
  rollout::StopFlag stop;
  const auto result = runs::ExecuteRun(scenario_.Request(dir_.path() / "roles"), parts, &stop, {});
  ASSERT_TRUE(result.ok() && result->finished());
  for (const auto& [listener, part] :
       {std::pair(&selection, "/selection/"), std::pair(&summary, "/summary/")}) {
    EXPECT_GE(listener->asked.size(), 3u);
    for (const auto& [label, request] : listener->asked) EXPECT_THAT(label, HasSubstr(part));
  }
  for (const auto& [label, request] : general.asked)
    EXPECT_THAT(label, AllOf(Not(HasSubstr("/selection/")), Not(HasSubstr("/summary/"))));
}

}  // namespace
}  // namespace davinci::integration
