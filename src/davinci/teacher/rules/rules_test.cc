#include "davinci/teacher/rules/rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "davinci/base/files.h"

namespace davinci::teacher {
namespace {

const std::filesystem::path kRulesHome = DAVINCI_SOURCE_DIR;

TEST(Rules, StandInTheDocsAsTheyAre) {
  std::string table = "| rule | skill | languages | level |\n|---|---|---|---|\n";
  for (const RuleInfo& info : Rules()) {
    std::string languages;
    for (const Language language : {Language::kTriton, Language::kCpp, Language::kCuda})
      if (info.languages.contains(language))
        languages += fmt::format("{}{}", languages.empty() ? "" : ", ", LanguageName(language));
    table += fmt::format("| `{}` | `{}` | {} | {} |\n", info.name, info.skill, languages,
                         LevelName(info.level));
  }
  const auto docs = ReadFile(kRulesHome / "docs" / "synth.md");
  ASSERT_TRUE(docs.ok());
  EXPECT_NE(docs->find(table), std::string::npos) << "docs/synth.md wants this table:\n" << table;
}

TEST(Rules, HaveEachANameOfTheirOwnASkillAndALanguage) {
  std::set<std::string_view> names;
  for (const RuleInfo& info : Rules()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(RuleNamed(info.name), info.rule);
    EXPECT_EQ(InfoOf(info.rule).name, info.name);
    EXPECT_FALSE(info.languages.empty()) << info.name;
    EXPECT_TRUE(std::filesystem::is_directory(kRulesHome / "skills" / info.skill)) << info.skill;
  }
  EXPECT_EQ(RuleNamed("fast"), std::nullopt);
}

TEST(RuleSet, HoldsTheRulesOfALevelInALanguage) {
  EXPECT_EQ(RuleSet::Of(Level::kNaive, Language::kCpp), RuleSet());
  const RuleSet better = RuleSet::Of(Level::kBetter, Language::kCpp);
  const RuleSet best = RuleSet::Of(Level::kBest, Language::kCpp);
  EXPECT_TRUE(better.Contains(Rule::kFusePointwise));
  EXPECT_FALSE(better.Contains(Rule::kFastExp));
  EXPECT_TRUE(best.Contains(Rule::kFastExp));
  EXPECT_FALSE(best.Contains(Rule::kWarpRows));
}

TEST(RuleSet, KeepsThoseOfALanguage) {
  const RuleSet mixed = {Rule::kFastExp, Rule::kWarpRows, Rule::kFusePointwise};
  EXPECT_EQ(mixed.In(Language::kCuda), (RuleSet{Rule::kWarpRows, Rule::kFusePointwise}));
  EXPECT_EQ(mixed.Names(), (std::set<std::string>{"fast_exp", "fuse_pointwise", "warp_rows"}));
  EXPECT_EQ(RuleSet{Rule::kFastExp}.Skills(), std::set<std::string>{"branch-free-exp"});
}

}  // namespace
}  // namespace davinci::teacher
