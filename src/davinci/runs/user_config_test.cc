#include "davinci/runs/user_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/base/test_environment.h"
#include "davinci/llm/prices.h"
#include "davinci/runs/run_recipe.h"

namespace davinci::runs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class UserConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::move(MakeTempDir("user-config")).value();
    environment_.Unset("DAVINCI_CONFIG");
    environment_.Set("XDG_CONFIG_HOME", folder_.path());
  }
  void Put(const std::string& text) const {
    ASSERT_TRUE(MakeDirs(folder_.path() / "davinci").ok());
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / "davinci/config.toml", text).ok());
  }
  static RunRecipe Resolved(const UserConfig& user, const std::vector<std::string>& overrides) {
    config::Recipe recipe;
    for (const std::string& line : overrides) EXPECT_TRUE(recipe.Override(line).ok());
    const auto read = ReadRecipe(OverUserConfig(recipe, user), nullptr);
    EXPECT_TRUE(read.ok()) << read.status().message();
    return *read;
  }
  TempDir folder_;
  TestEnvironment environment_;
};

constexpr char kConfig[] = R"(
[llm]
endpoints = ["https://api.example.com/v1"]
model = "m"
api_key_env = "MY_KEY"
ca_file = "ca.pem"
headers = { "X-Team" = "kernels" }
[models.m]
input_usd_per_million = 1
output_usd_per_million = 2
)";

TEST_F(UserConfigTest, IsWhereRunsStart) {
  Put(kConfig);
  const auto user = LoadUserConfig();
  ASSERT_TRUE(user.ok()) << user.status().message();
  const RunRecipe run = Resolved(*user, {"llm.model=other", "llm.headers={\"X-Run\"=\"1\"}"});
  EXPECT_THAT(run.llm.endpoints, ElementsAre("https://api.example.com/v1"));
  EXPECT_EQ(run.llm.model, "other");
  EXPECT_EQ(run.llm.headers.size(), 2u);
  EXPECT_EQ(run.llm.ca_file, (folder_.path() / "davinci/ca.pem").string());
  const auto prices = llm::PriceTable::Load(run.llm.prices);
  ASSERT_TRUE(prices.ok()) << prices.status().message();
  EXPECT_TRUE(prices->Find("m"));
}

TEST_F(UserConfigTest, KeysOfItsEndpointsDoNotTravelToOthers) {
  Put(kConfig);
  const auto user = LoadUserConfig();
  ASSERT_TRUE(user.ok());
  const RunRecipe run = Resolved(*user, {"llm.endpoints=[\"http://127.0.0.1:1\"]"});
  EXPECT_EQ(run.llm.model, "");
  EXPECT_EQ(run.llm.api_key_env, "");
  EXPECT_TRUE(run.llm.headers.empty());
  EXPECT_NE(run.llm.prices, "");
}

TEST_F(UserConfigTest, AnUnknownKeyIsAnErrorWithASuggestion) {
  Put("[llm]\nendpoint = [\"x\"]\n");
  EXPECT_THAT(LoadUserConfig().status().message(),
              testing::AllOf(HasSubstr("config.toml:2"), HasSubstr("\"llm.endpoint\""),
                             HasSubstr("did you mean \"llm.endpoints\"")));
  Put("[rollout]\nturns = 3\n");
  EXPECT_THAT(LoadUserConfig().status().message(), HasSubstr("unknown key \"rollout\""));
}

TEST_F(UserConfigTest, NoFileIsAnEmptyConfigurationUnlessItWasNamed) {
  const auto user = LoadUserConfig();
  ASSERT_TRUE(user.ok());
  EXPECT_FALSE(user->exists);
  environment_.Set("DAVINCI_CONFIG", folder_.path() / "none.toml");
  EXPECT_EQ(LoadUserConfig().status().code(), StatusCode::kNotFound);
  environment_.Unset("DAVINCI_CONFIG");
}

}  // namespace
}  // namespace davinci::runs
