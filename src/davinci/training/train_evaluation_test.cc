#include "davinci/training/train_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::training {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

rollout::TaskOutcome Outcome1(const std::string& task, double speedup) {
  rollout::TaskOutcome outcome;
  outcome.task = task;
  Trajectory& trajectory = outcome.trajectories.emplace_back();
  trajectory.id = {task, 0, 0, 7};
  Turn& turn = trajectory.turns.emplace_back();
  turn.id = {trajectory.id, 1};
  turn.reply = "a long reply";
  turn.language = Language::kCpp;
  turn.evaluation.outcome = speedup > 0 ? Outcome::kOk : Outcome::kMismatch;
  turn.evaluation.correct = speedup > 0;
  turn.evaluation.evidence["profile"] = {{"library_share", 0.25}, {"operators", {1, 2}}};
  turn.evaluation.provenance["protocol"] = {{"name", "screening"}};
  if (speedup > 0)
    turn.evaluation.speedup = Speedup{speedup, 0.99 * speedup, 1.01 * speedup, true, "eager"};
  return outcome;
}

TEST(TrainEvaluation, TheFirstEveryNthAndTheLastCheckpointAreDue) {
  TrainRecipe recipe;
  recipe.steps = 5;
  recipe.eval_every = 2;
  std::vector<int> due;
  for (int step = 0; step <= recipe.steps; ++step)
    if (EvaluationDue(recipe, step)) due.push_back(step);
  EXPECT_THAT(due, ElementsAre(0, 2, 4, 5));
  recipe.eval_every = 0;
  EXPECT_FALSE(EvaluationDue(recipe, 5));
}

TEST(TrainEvaluation, GreedyAndSampledRolloutsHaveFixedSeedsAndLearnNothing) {
  TrainRecipe recipe;
  recipe.run.step.learn = true;
  recipe.run.step.schemes = 3;
  const rollout::StepSettings greedy = GreedySettings(recipe);
  const rollout::StepSettings samples = SampleSettings(recipe);
  EXPECT_EQ(greedy.policy_sampling.temperature, 0);
  EXPECT_EQ(greedy.rollouts, 1);
  EXPECT_EQ(samples.policy_sampling.temperature, recipe.run.step.policy_sampling.temperature);
  EXPECT_EQ(samples.rollouts, recipe.eval_samples);
  for (const rollout::StepSettings& settings : {greedy, samples}) {
    EXPECT_TRUE(settings.seed_step.has_value());
    EXPECT_FALSE(settings.learn);
    EXPECT_EQ(settings.schemes, 1);
    EXPECT_FALSE(settings.null_scheme);
    EXPECT_EQ(settings.final_protocol, settings.turn_protocol);
  }
  recipe.run.step.turn_protocol = "staged";
  recipe.run.step.paid_protocol = "screening";
  EXPECT_EQ(GreedySettings(recipe).turn_protocol, "screening");
  recipe.eval_protocol = "staged";
  EXPECT_EQ(GreedySettings(recipe).turn_protocol, "staged");
}

TEST(TrainEvaluation, WhatIsWrittenIsScoredAlikeWhenItIsRead) {
  const auto folder = MakeTempDir("evaluation");
  ASSERT_TRUE(folder.ok());
  const std::vector<TrainTask> tasks = {{{}, {}, "seen"}, {{}, {}, "unseen"}};
  HeldOutLog log;
  AddRollouts({Outcome1("a", 2), Outcome1("b", -1)}, tasks, 0, &log);
  AddRollouts({Outcome1("a", 3), Outcome1("b", 1.5)}, tasks, 1, &log);
  const score::ScoreReport report = ScoreOf(log);
  EXPECT_EQ(GreedyScore(report).fast_1, 0.5);
  const auto figures = LogFigures(report);
  EXPECT_EQ(figures["greedy"]["correct"]["unseen"], 0);
  EXPECT_EQ(figures["best of 1"]["fast_1.2"]["all tasks"], 1);
  EXPECT_FALSE(HasEvaluation(folder->path(), 7));
  ASSERT_TRUE(WriteEvaluation(folder->path(), 7, log, {{"c", "why"}}, report).ok());
  EXPECT_TRUE(HasEvaluation(folder->path(), 7));
  const auto read = ReadEvaluation(folder->path(), 7);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(score::ToJson(ScoreOf(*read)), score::ToJson(report));
  EXPECT_EQ(read->at("seen")[1].id.rollout, 1);
  EXPECT_EQ(read->at("seen")[0].turns[0].reply, "");
  EXPECT_EQ(NumTasks(*read), 2U);
  const auto left_out = ReadLeftOut(folder->path(), 7);
  ASSERT_TRUE(left_out.ok()) << left_out.status().ToString();
  EXPECT_THAT(*left_out, ElementsAre(Pair("c", "why")));
  EXPECT_THAT(EvaluationText(7, report, *left_out), HasSubstr("1 of 3 tasks are left out"));
  EXPECT_THAT(ListEvaluations(folder->path()), ElementsAre(7));
  EXPECT_THAT(ReadEvaluation(folder->path(), 8).status().message(), HasSubstr("7"));
}

}  // namespace
}  // namespace davinci::training
