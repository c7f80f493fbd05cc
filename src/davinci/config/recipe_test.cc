#include "davinci/config/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace davinci::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Settings {
  int trials = 10;
  double alpha = 0.05;
  bool strict = true;
  std::string name = "run";
  std::string target = "cpu";
  std::vector<std::string> tags = {"a"};
  std::string problems;
  std::string dump;
};

Settings Resolve(const Recipe& recipe) {
  Settings s;
  RecipeReader reader(recipe);
  reader.Read("name", &s.name);
  reader.Read("judge.trials", &s.trials);
  reader.Read("judge.strict", &s.strict);
  reader.Read("judge.timing.alpha", &s.alpha);
  reader.Read("judge.tags", &s.tags);
  reader.ReadChoice("judge.target", &s.target, {"cpu", "cuda"});
  s.problems = reader.Finish().message();
  s.dump = reader.ResolvedToml();
  return s;
}

Recipe Parse(std::string_view text, std::string_view source = "r.toml") {
  auto recipe = Recipe::Parse(text, source);
  EXPECT_TRUE(recipe.ok()) << recipe.status().ToString();
  return recipe.ok() ? *recipe : Recipe();
}

TEST(Recipe, AbsentKeysKeepTheirDefaults) {
  const Settings s = Resolve(Recipe());
  EXPECT_THAT(s.problems, IsEmpty());
  EXPECT_EQ(s.trials, 10);
  EXPECT_THAT(s.tags, ElementsAre("a"));
}

TEST(Recipe, LaterLayerWinsKeyByKey) {
  Recipe recipe = Parse("[judge]\ntrials = 3\ntags = [\"x\", \"y\"]\n");
  recipe.Merge(Parse("[judge]\ntags = []\n[judge.timing]\nalpha = 1\n", "over.toml"));
  const Settings s = Resolve(recipe);
  EXPECT_THAT(s.problems, IsEmpty());
  EXPECT_EQ(s.trials, 3);
  EXPECT_THAT(s.tags, IsEmpty()) << "lists are replaced, not appended";
  EXPECT_EQ(s.alpha, 1.0) << "an integer is a number";
}

TEST(Recipe, ErrorsPointAtTheLayerThatIsWrong) {
  Recipe recipe = Parse("[judge]\n\ntrials = 3\n", "base.toml");
  recipe.Merge(Parse("judge.trials = \"many\"", "over.toml"));
  EXPECT_THAT(
      Resolve(recipe).problems,
      HasSubstr("over.toml:1: judge.trials: must be an integer of 32 bits, not text (\"many\")"));
  ASSERT_TRUE(recipe.Override("judge.trials=1.5").ok());
  EXPECT_THAT(Resolve(recipe).problems,
              HasSubstr("override judge.trials=1.5: judge.trials: must be an integer"));
}

TEST(Recipe, OverridesTakeTomlValuesAndBareWords) {
  Recipe recipe;
  for (const char* assignment :
       {"judge.trials = 7", "judge.target=cuda", "name=\"a = b\"", "judge.tags=[\"p\"]",
        "judge.timing.alpha=1e-3", "judge.strict=false"}) {
    EXPECT_TRUE(recipe.Override(assignment).ok()) << assignment;
  }
  const Settings s = Resolve(recipe);
  EXPECT_THAT(s.problems, IsEmpty());
  EXPECT_EQ(s.trials, 7);
  EXPECT_EQ(s.target, "cuda");
  EXPECT_EQ(s.name, "a = b");
  EXPECT_THAT(s.tags, ElementsAre("p"));
  EXPECT_EQ(s.alpha, 1e-3);
  EXPECT_FALSE(s.strict);
}

TEST(Recipe, MalformedOverridesAreRefused) {
  Recipe recipe;
  for (const char* assignment :
       {"judge.trials", "=3", "a..b=1", "a b=1", "x=", "x=[1", "x=\"y", "x=1\ny=2", ""}) {
    EXPECT_EQ(recipe.Override(assignment).code(), StatusCode::kInvalidArgument) << assignment;
  }
  EXPECT_TRUE(recipe.tree().values.empty());
}

TEST(Recipe, UnknownKeysAreErrorsWithASuggestion) {
  const std::string problems = Resolve(Parse("[judge]\ntrails = 3\n[juge]\ntrials = 1\n")).problems;
  EXPECT_THAT(problems,
              HasSubstr("r.toml:2: unknown key \"judge.trails\" (did you mean \"judge.trials\"?)"));
  EXPECT_THAT(problems, HasSubstr("r.toml:3: unknown key \"juge\" (did you mean \"judge\"?)"));
}

TEST(Recipe, SectionWrittenAsValueIsNamed) {
  EXPECT_THAT(Resolve(Parse("judge = 3")).problems,
              HasSubstr("r.toml:1: judge is a section, not a value"));
}

TEST(Recipe, ValueWrittenAsSectionIsNamed) {
  EXPECT_THAT(Resolve(Parse("[name]\nx = 1")).problems,
              HasSubstr("r.toml:1: name: must be text in quotes, not table"));
}

TEST(Recipe, ChoicesAreClosed) {
  const Settings s = Resolve(Parse("judge.target = \"cdua\""));
  EXPECT_THAT(s.problems, HasSubstr("\"cdua\" is not one of cpu, cuda (did you mean \"cuda\"?)"));
  EXPECT_EQ(s.target, "cpu");
}

TEST(Recipe, IntegersOutOfRangeAreRefused) {
  EXPECT_THAT(Resolve(Parse("judge.trials = 2147483648")).problems, HasSubstr("32 bits"));
  EXPECT_THAT(Resolve(Parse("judge.trials = 2147483647")).problems, IsEmpty());
}

TEST(Recipe, DumpGivesTheSameSettingsAgain) {
  Recipe recipe =
      Parse("name = \"quote \\\" back \\\\ line\\n µ \\u007f\"\n[judge.timing]\nalpha = inf\n");
  const Settings s = Resolve(recipe);
  const Settings again = Resolve(Parse(s.dump));
  EXPECT_THAT(again.problems, IsEmpty()) << s.dump;
  EXPECT_EQ(again.name, s.name);
  EXPECT_TRUE(std::isinf(again.alpha));
  EXPECT_EQ(again.dump, s.dump);
  EXPECT_THAT(s.dump,
              HasSubstr("[judge]\nstrict = true\ntags = [\"a\"]\ntarget = \"cpu\"\ntrials = 10\n"));
}

}  // namespace
}  // namespace davinci::config
