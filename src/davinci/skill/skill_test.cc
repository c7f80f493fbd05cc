#include "davinci/skill/skill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace davinci::skill {
namespace {

using testing::HasSubstr;

Skill Good() {
  Skill skill;
  skill.name = "one-pass";
  skill.description = "Read the row once.";
  skill.tags = {"norm", "cpp"};
  skill.content = "## Motivation\n\na\n\n## Key Idea\n\nb\n\n## Example\n\nc";
  return skill;
}

std::string Problems(const Skill& skill, Strictness strictness = Strictness::kAuthored) {
  return Validate(skill, strictness).message();
}

TEST(Skill, AuthoredSkillsHaveKebabNamesScopeAndSections) {
  EXPECT_TRUE(Validate(Good(), Strictness::kAuthored).ok());
  Skill skill = Good();
  skill.name = "one_pass";
  EXPECT_THAT(Problems(skill), HasSubstr("kebab-case"));
  EXPECT_EQ(Problems(skill, Strictness::kPublished), "");
  skill = Good();
  skill.scope = "task_specific/";
  EXPECT_THAT(Problems(skill), HasSubstr("scope"));
  skill.scope = "operator/";
  EXPECT_THAT(Problems(skill), HasSubstr("scope"));
  skill.scope = "operator/cdist";
  EXPECT_EQ(Problems(skill), "");
  skill = Good();
  skill.content = "## Key Idea\n\nb\n\n## Motivation\n\na\n\n## Example\n\n  \n";
  EXPECT_THAT(Problems(skill), HasSubstr("no line \"## Key Idea\" after the heading before it"));
  EXPECT_THAT(Problems(skill), HasSubstr("the section \"## Example\" is empty"));
}

TEST(Skill, WhatNoLibraryMayHold) {
  Skill skill = Good();
  skill.name = "../escape";
  EXPECT_THAT(Problems(skill, Strictness::kPublished), HasSubstr("a-z, 0-9"));
  skill = Good();
  skill.description = "two\nlines";
  EXPECT_THAT(Problems(skill, Strictness::kPublished), HasSubstr("more than one line"));
  skill = Good();
  skill.tags = {"a,b"};
  EXPECT_THAT(Problems(skill, Strictness::kPublished), HasSubstr("tag \"a,b\""));
  skill = Good();
  skill.content = std::string(kMaxContentBytes + 1, 'x');
  EXPECT_THAT(Problems(skill, Strictness::kPublished), HasSubstr("bytes"));
  skill = Good();
  skill.content += "\xff";
  EXPECT_THAT(Problems(skill, Strictness::kPublished), HasSubstr("UTF-8"));
}

TEST(Skill, KebabCase) {
  for (const char* good : {"a", "a1", "a-b-2"}) EXPECT_TRUE(IsKebabCase(good)) << good;
  for (const char* bad : {"", "-a", "a-", "a--b", "A", "a_b", "a b"})
    EXPECT_FALSE(IsKebabCase(bad)) << bad;
  EXPECT_FALSE(IsKebabCase(std::string(65, 'a')));
}

TEST(Skill, RendersForPrompts) {
  EXPECT_EQ(RenderSkill(Good()),
            "---\nname: one-pass\ndescription: Read the row once.\nscope: general\ntags: [norm, "
            "cpp]\n---\n## Motivation\n\na\n\n## Key Idea\n\nb\n\n## Example\n\nc\n");
  Skill other = Good();
  other.name = "two";
  other.content = "text\n\n";
  EXPECT_EQ(RenderSkills({Good(), other}),
            RenderSkill(Good()) +
                "\n---\nname: two\ndescription: Read the row once.\nscope: "
                "general\ntags: [norm, cpp]\n---\ntext\n");
  EXPECT_EQ(RenderSkills({}), "");
}

TEST(Usage, MeanAndIntervalAreGeometric) {
  Usage usage;
  EXPECT_FALSE(usage.MeanUplift());
  usage.Observe(2.0);
  EXPECT_FALSE(usage.UpliftInterval());
  usage.Observe(0.5);
  EXPECT_NEAR(*usage.MeanUplift(), 1.0, 1e-12);
  // Standard deviation of {ln 2, -ln 2} is sqrt(2) ln 2, of the mean ln 2.
  EXPECT_NEAR(usage.UpliftInterval()->high, std::exp(1.96 * std::log(2)), 1e-9);
  Usage more = usage;
  more.Add(usage);
  EXPECT_EQ(more.observations, 4);
}

TEST(Evidence, JsonIsExactAndStrict) {
  Evidence evidence;
  evidence.uplift = {1.25, 1.1, std::numeric_limits<double>::infinity()};
  evidence.target = "cuda";
  evidence.device = "NVIDIA H200";
  evidence.tasks = {"norm/layer_norm"};
  evidence.num_generations = 6;
  evidence.protocol = "davinci/1";
  evidence.run = "r1";
  evidence.last_verified = "2026-02-03T04:05:06Z";
  const auto again = EvidenceFromJson(ToJson(evidence));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, evidence);
  auto document = ToJson(evidence);
  document.erase("device");
  EXPECT_FALSE(EvidenceFromJson(document).ok());
  document = ToJson(evidence);
  document["uplift"]["low"] = "1.1";
  EXPECT_FALSE(EvidenceFromJson(document).ok());
  EXPECT_FALSE(EvidenceFromJson(nlohmann::json::array()).ok());
}

TEST(Evidence, AnIntervalIsOrderedAndPositive) {
  Evidence evidence;
  evidence.uplift = {1.2, 1.1, 1.3};
  EXPECT_TRUE(Validate(evidence).ok());
  for (const Interval bad : {Interval{1.2, 1.25, 1.3}, Interval{1.2, 1.1, 1.15}, Interval{0, 0, 1},
                             Interval{std::nan(""), 1, 2}, Interval{1.2, -1, 2}}) {
    evidence.uplift = bad;
    EXPECT_FALSE(Validate(evidence).ok());
  }
  evidence.uplift = {1.2, 1.1, 1.3};
  evidence.target = "tpu";
  EXPECT_FALSE(Validate(evidence).ok());
}

}  // namespace
}  // namespace davinci::skill
