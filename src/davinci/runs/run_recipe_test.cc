#include "davinci/runs/run_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/runs/run_identity.h"

namespace davinci::runs {
namespace {

using ::testing::HasSubstr;

std::string Resolved(const config::Recipe& recipe) {
  std::string toml;
  const auto read = ReadRecipe(recipe, &toml);
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  return toml;
}

TEST(RunRecipe, TheShippedRecipeListsEveryKeyWithItsDefault) {
  const auto shipped = config::Recipe::Load(DAVINCI_SOURCE_DIR "/recipes/davinci.toml");
  ASSERT_TRUE(shipped.ok()) << shipped.status().ToString();
  EXPECT_EQ(Resolved(*shipped), Resolved(config::Recipe()));
  // A key that the code reads and the file does not mention would be resolved all the same.
  const auto defaults = config::Recipe::Parse(Resolved(config::Recipe()), "defaults");
  ASSERT_TRUE(defaults.ok());
  for (const auto& [table, keys] : defaults->tree().values.items())
    for (const auto& [key, value] : keys.items()) {
      if (table == "task" && key != "baseline") continue;  // depend on the machine
      EXPECT_TRUE(shipped->tree().values.contains(table) &&
                  shipped->tree().values[table].contains(key))
          << table << "." << key;
    }
}

TEST(RunRecipe, EveryShippedRecipeIsValid) {
  const auto files = ListFiles(DAVINCI_SOURCE_DIR "/recipes", ".toml");
  ASSERT_TRUE(files.ok());
  ASSERT_GE(files->size(), 2u);
  for (const auto& file : *files) {
    const auto recipe = config::Recipe::Load(file);
    ASSERT_TRUE(recipe.ok()) << recipe.status().ToString();
    const auto read = ReadRecipe(*recipe, nullptr);
    EXPECT_TRUE(read.ok()) << read.status().ToString();
  }
}

TEST(RunRecipe, AnUnknownKeyGetsASuggestion) {
  config::Recipe recipe;
  ASSERT_TRUE(recipe.Override("rollout.turn=5").ok());
  const auto read = ReadRecipe(recipe, nullptr);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("turns"));
}

TEST(RunRecipe, ValuesOutOfRangeAreNamedTogether) {
  config::Recipe recipe;
  ASSERT_TRUE(recipe.Override("rollout.turns=0").ok());
  ASSERT_TRUE(recipe.Override("verification.max_pairs=2").ok());
  ASSERT_TRUE(recipe.Override("judge.turn_protocol=\"fast\"").ok());
  const auto read = ReadRecipe(recipe, nullptr);
  ASSERT_FALSE(read.ok());
  for (const char* key : {"rollout.turns", "verification.max_pairs", "judge.turn_protocol"})
    EXPECT_THAT(read.status().message(), HasSubstr(key));
}

TEST(RunRecipe, AnIterationNeedsATurnOfItsOwn) {
  config::Recipe recipe;
  ASSERT_TRUE(recipe.Override("rollout.iterations=2").ok());
  ASSERT_TRUE(recipe.Override("rollout.carried_turns=3").ok());
  EXPECT_FALSE(ReadRecipe(recipe, nullptr).ok());
  ASSERT_TRUE(recipe.Override("rollout.carried_turns=2").ok());
  EXPECT_TRUE(ReadRecipe(recipe, nullptr).ok());
}

TEST(RunRecipe, SpeedAndBudgetAreNoPartOfARunsIdentity) {
  RunRecipe recipe;
  const auto before = Identity(recipe);
  recipe.llm.concurrency = 99;
  recipe.budget.usd = 5;
  recipe.judge.in_flight = 7;
  EXPECT_EQ(Identity(recipe), before);
  recipe.step.turns = 7;
  EXPECT_NE(Identity(recipe), before);
}

TEST(RunRecipe, TheLanguageFollowsTheTarget) {
  config::Recipe recipe;
  ASSERT_TRUE(recipe.Override("task.target=\"cuda\"").ok());
  EXPECT_EQ(ReadRecipe(recipe, nullptr)->step.language, Language::kTriton);
  ASSERT_TRUE(recipe.Override("task.target=\"cpu\"").ok());
  EXPECT_EQ(ReadRecipe(recipe, nullptr)->step.language, Language::kCpp);
}

}  // namespace
}  // namespace davinci::runs
