#include "davinci/runs/recipe_layers.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "davinci/base/files.h"

namespace davinci::runs {
namespace {

namespace fs = std::filesystem;

config::Recipe Recipe(const std::vector<std::string>& lines) {
  config::Recipe recipe;
  for (const std::string& line : lines) EXPECT_TRUE(recipe.Override(line).ok()) << line;
  return recipe;
}

TEST(ChooseExpert, WritesTheKernelsWhereNoModelIsNamed) {
  config::Recipe recipe = Recipe({"rollout.turns=9"});
  EXPECT_EQ(ChooseExpert(true, &recipe).value(), true);
  const nlohmann::json& values = recipe.tree().values;
  EXPECT_EQ(values["llm"]["endpoints"], nlohmann::json::array({"expert"}));
  EXPECT_EQ(values["rollout"]["rollouts"], 8);
  EXPECT_EQ(values["rollout"]["turns"], 9) << "what is set stays";
}

TEST(ChooseExpert, LeavesAModelAlone) {
  for (const char* line : {"llm.endpoints=[\"http://a\"]", "llm.policy.model=\"m\""}) {
    config::Recipe recipe = Recipe({line});
    EXPECT_EQ(ChooseExpert(true, &recipe).value(), false) << line;
    EXPECT_FALSE(IsSet(recipe, "rollout.rollouts")) << line;
  }
  config::Recipe recipe;
  EXPECT_EQ(ChooseExpert(false, &recipe).value(), false);
  EXPECT_FALSE(IsSet(recipe, "llm.endpoints"));
}

TEST(ChooseExpert, FillsInItsSettingsWhereItIsNamed) {
  config::Recipe recipe = Recipe({"llm.endpoints=[\"expert\"]"});
  EXPECT_EQ(ChooseExpert(false, &recipe).value(), false);
  EXPECT_EQ(recipe.tree().values["selection"]["schemes"], 0);
}

class SettingsOfModelTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeDirs(model_ / "prompts").ok());
    ASSERT_TRUE(WriteFileAtomic(model_ / "davinci.toml",
                                "[agents]\nprompts = \"prompts\"\nreply = \"delta\"\n"
                                "[skills]\nlibrary = \"cards/triton.jsonl\"\n"
                                "[rollout]\nturns = 1\n")
                    .ok());
  }
  Status Add(config::Recipe* recipe) const {
    return AddSettingsOfModel(
        [&]() -> Result<fs::path> { return home_; },
        [&](const fs::path&) -> Result<std::string> { return model_.string(); }, recipe);
  }

  const TempDir folder_ = MakeTempDir("recipe-layers").value();
  const fs::path home_ = folder_.path() / "home";
  const fs::path model_ = folder_.path() / "model";
};

TEST_F(SettingsOfModelTest, LieBelowWhatIsSetAndNameFilesOfTheModelOrTheInstallation) {
  config::Recipe recipe =
      Recipe({"llm.endpoints=[\"embedded\"]", "task.target=\"cuda\"", "rollout.turns=4"});
  ASSERT_TRUE(Add(&recipe).ok());
  const nlohmann::json& values = recipe.tree().values;
  EXPECT_EQ(values["agents"]["prompts"], (model_ / "prompts").string());
  EXPECT_EQ(values["skills"]["library"], (home_ / "cards/triton.jsonl").string());
  EXPECT_EQ(values["agents"]["reply"], "delta");
  EXPECT_EQ(values["rollout"]["turns"], 4);
}

TEST_F(SettingsOfModelTest, ALanguageThatTheModelHasNotLearnedIsRefused) {
  ASSERT_TRUE(
      WriteFileAtomic(model_ / "davinci.toml", "[task]\ntarget = \"cuda\"\nlanguage = \"triton\"\n")
          .ok());
  for (const char* line : {"task.target=\"cpu\"", "task.language=\"cuda\""}) {
    config::Recipe recipe = Recipe({"llm.endpoints=[\"embedded\"]", line});
    const Status refused = Add(&recipe);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << line;
    EXPECT_NE(refused.message().find("writes \"triton\" for the target \"cuda\" alone"),
              std::string::npos)
        << refused.message();
  }
  config::Recipe recipe = Recipe({"llm.endpoints=[\"embedded\"]", "task.target=\"cuda\""});
  ASSERT_TRUE(Add(&recipe).ok());
  EXPECT_EQ(recipe.tree().values["task"]["language"], "triton");
}

TEST_F(SettingsOfModelTest, AreNotAskedOfAnEndpoint) {
  config::Recipe recipe = Recipe({"llm.endpoints=[\"http://a\"]"});
  ASSERT_TRUE(Add(&recipe).ok());
  EXPECT_FALSE(IsSet(recipe, "agents.prompts"));
}

}  // namespace
}  // namespace davinci::runs
