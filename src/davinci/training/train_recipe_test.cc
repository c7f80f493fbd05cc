#include "davinci/training/train_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::training {
namespace {

using ::testing::HasSubstr;

TEST(TrainRecipe, TheShippedRecipeHasTheDefaults) {
  const auto shipped = config::Recipe::Load(DAVINCI_SOURCE_DIR "/recipes/train/davinci.toml");
  ASSERT_TRUE(shipped.ok()) << shipped.status().ToString();
  std::string from_file;
  std::string from_code;
  const auto read = ReadTrainRecipe(*shipped, &from_file);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_TRUE(ReadTrainRecipe(config::Recipe(), &from_code).ok());
  EXPECT_EQ(from_file, from_code);
}

TEST(TrainRecipe, EveryShippedRecipeIsValid) {
  int num_train = 0;
  const auto files = ListFiles(DAVINCI_SOURCE_DIR "/recipes/train", ".toml", true);
  ASSERT_TRUE(files.ok());
  for (const auto& file : *files) {
    const auto recipe = config::Recipe::Load(file);
    ASSERT_TRUE(recipe.ok()) << recipe.status().ToString();
    if (file.filename() == "sft.toml") {
      EXPECT_TRUE(trainer::ReadSftRecipe(*recipe, nullptr).ok()) << file;
      continue;
    }
    ++num_train;
    const auto read = ReadTrainRecipe(*recipe, nullptr);
    EXPECT_TRUE(read.ok()) << file << ": " << read.status().ToString();
  }
  EXPECT_GE(num_train, 5);
}

TEST(TrainRecipe, EveryShippedRecipePaysNothingForACopyOfPyTorch) {
  const auto files = ListFiles(DAVINCI_SOURCE_DIR "/recipes/train", ".toml", true);
  ASSERT_TRUE(files.ok());
  for (const auto& file : *files) {
    if (file.filename() == "sft.toml") continue;
    auto recipe = config::Recipe::Load(file);
    ASSERT_TRUE(recipe.ok());
    const auto read = ReadTrainRecipe(*recipe, nullptr);
    ASSERT_TRUE(read.ok()) << file;
    EXPECT_TRUE(read->run.step.require_own_kernel) << file;
    EXPECT_EQ(read->run.step.static_rules == rollout::StaticRules::kKevin,
              file.filename() == "kevin.toml");
    ASSERT_TRUE(recipe->Override("policy.require_own_kernel=false").ok());
    EXPECT_THAT(ReadTrainRecipe(*recipe, nullptr).status().message(),
                HasSubstr("policy.require_own_kernel"));
  }
}

TEST(TrainRecipe, RefusesWhatWouldTrainOnAnotherDistribution) {
  config::Recipe recipe;
  for (const char* set :
       {"policy.top_p=0.9", "llm.logprobs=false", "llm.bound_calls=true", "advantage.kind=\"best\"",
        "summary.temperature=0.5", "train.step=3", "policy.retries=1"})
    ASSERT_TRUE(recipe.Override(set).ok());
  const auto read = ReadTrainRecipe(recipe, nullptr);
  ASSERT_FALSE(read.ok());
  for (const char* key : {"policy.top_p", "llm.logprobs", "llm.bound_calls", "trloo",
                          "summary.temperature", "train.steps", "policy.retries"})
    EXPECT_THAT(read.status().message(), HasSubstr(key));
}

TEST(TrainRecipe, ACriticRefusesWhatContradictsIt) {
  config::Recipe recipe;
  for (const char* set : {"advantage.kind=\"gae\"", "returns.kind=\"max\"",
                          "reward.kind=\"milestone\"", "critic.lambda=1.5"})
    ASSERT_TRUE(recipe.Override(set).ok());
  const auto read = ReadTrainRecipe(recipe, nullptr);
  ASSERT_FALSE(read.ok());
  for (const char* key :
       {"advantage.cross_scheme_scaling", "returns.kind", "task.baseline", "critic.lambda"})
    EXPECT_THAT(read.status().message(), HasSubstr(key));
}

// CUDA Agent's published settings (arXiv 2602.24286).
TEST(TrainRecipe, CudaAgentTrainsACriticOnMilestones) {
  const auto recipe = config::Recipe::Load(DAVINCI_SOURCE_DIR "/recipes/train/cuda-agent.toml");
  ASSERT_TRUE(recipe.ok());
  const auto read = ReadTrainRecipe(*recipe, nullptr);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const TrainAlgorithm& a = read->algorithm;
  EXPECT_TRUE(a.critic.enabled && a.critic.pretrain);
  EXPECT_EQ(a.critic.lambda, 0.95);
  EXPECT_EQ(a.gamma, 1);
  EXPECT_EQ(a.critic.learning_rate, 6e-6);
  EXPECT_EQ(read->common.schedule.learning_rate, 3e-6);
  EXPECT_EQ(a.reward.kind, rl::RewardKind::kMilestone);
  EXPECT_EQ(read->run.step.baseline, "eager,compile");
  EXPECT_EQ(a.clip.high, 0.28);
  EXPECT_EQ(read->run.step.turns, 150);
  EXPECT_EQ(read->steps, 150);
}

}  // namespace
}  // namespace davinci::training
