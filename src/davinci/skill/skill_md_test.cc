#include "davinci/skill/skill_md.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/skill/skill_json.h"

namespace davinci::skill {
namespace {

using testing::ElementsAre;

constexpr char kFile[] = R"md(---
name: fuse-the-epilogue
license: MIT
description: "Fuse: one write instead of two."
metadata:
  author: someone   # kept
  scope: task_specific/matmul
  tags: matmul, fusion
---

## Motivation

Two writes.

## Key Idea

One.

## Example

`y = gelu(acc)`
)md";

TEST(SkillMd, ReadsFieldsFromTheirPlaces) {
  const auto skill = ParseSkillMd(kFile, "SKILL.md");
  ASSERT_TRUE(skill.ok()) << skill.status().message();
  EXPECT_EQ(skill->name, "fuse-the-epilogue");
  EXPECT_EQ(skill->description, "Fuse: one write instead of two.");
  EXPECT_EQ(skill->scope, "task_specific/matmul");
  EXPECT_THAT(skill->tags, ElementsAre("matmul", "fusion"));
  EXPECT_TRUE(skill->content.starts_with("## Motivation\n"));
  EXPECT_TRUE(skill->content.ends_with("`y = gelu(acc)`"));
  EXPECT_EQ(skill->extra.dump(), R"({"license":"MIT","metadata":{"author":"someone"}})");
  EXPECT_TRUE(Validate(*skill, Strictness::kAuthored).ok());
}

TEST(SkillMd, AnUnchangedSkillIsWrittenByteByByte) {
  EXPECT_EQ(FormatSkillMd(*ParseSkillMd(kFile, "SKILL.md")), kFile);
}

TEST(SkillMd, AChangedSkillIsWrittenCanonicallyAndKeepsUnknownFields) {
  auto skill = *ParseSkillMd(kFile, "SKILL.md");
  skill.tags.push_back("cpp");
  const std::string head = R"md(---
name: fuse-the-epilogue
description: "Fuse: one write instead of two."
license: MIT
metadata:
  scope: task_specific/matmul
  tags: matmul, fusion, cpp
  author: someone
---

## Motivation
)md";
  EXPECT_EQ(FormatSkillMd(skill).substr(0, head.size()), head);
  const auto again = ParseSkillMd(FormatSkillMd(skill), "SKILL.md");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, skill);
}

TEST(SkillMd, CarriesEverythingThePublishedFormatCan) {
  Skill skill;
  skill.name = "tile__and_fuse";
  skill.description = "- begins like a list: yes";
  skill.scope = "#odd";
  skill.content = "\n\nno sections\n\n";
  skill.extra = {{"source_uuid", 17}, {"metadata", {{"tags", "not ours"}}}, {"x y", {1, "two"}}};
  const std::string text = FormatSkillMd(skill);
  EXPECT_NE(text.find("name: tile-and-fuse\n"), std::string::npos) << text;
  const auto again = ParseSkillMd(text, "SKILL.md");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, skill);
}

TEST(SkillMd, FilesOfOtherToolsAreRead) {
  constexpr char kForeign[] = R"md(---
name: profile-kernels
description: |
  Use when a kernel is slow: measure first.
  Covers "nsys" and perf.
license: Apache-2.0
allowed-tools:
  - Bash(nsys:*)
  - Read
metadata: {version: 1.2, tags: [profiling, cuda], authors: [{name: A, mail: "a@b.c"}]}
---
# Profile

Measure, then change.
)md";
  const auto skill = ParseSkillMd(kForeign, "SKILL.md");
  ASSERT_TRUE(skill.ok()) << skill.status().message();
  EXPECT_EQ(skill->description,
            "Use when a kernel is slow: measure first. Covers \"nsys\" and perf.");
  EXPECT_THAT(skill->tags, ElementsAre("profiling", "cuda"));
  EXPECT_EQ(skill->extra.dump(),
            R"x({"license":"Apache-2.0","allowed-tools":["Bash(nsys:*)","Read"],)x"
            R"x("metadata":{"version":"1.2","authors":[{"name":"A","mail":"a@b.c"}]}})x");
  EXPECT_EQ(FormatSkillMd(*skill), kForeign);
  Skill changed = *skill;
  changed.tags = {"profiling"};
  const auto again = ParseSkillMd(FormatSkillMd(changed), "SKILL.md");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, changed);
}

TEST(SkillMd, ErrorsNameTheFile) {
  EXPECT_EQ(ParseSkillMd("---\nname: a\n---\nx", "s/SKILL.md").status().message(),
            "s/SKILL.md: the front matter lacks \"description\"");
  EXPECT_EQ(ParseSkillMd("---\nname: A b\ndescription: d\n---\nx", "SKILL.md").status().message(),
            "SKILL.md: name \"A b\" must be 1 to 128 of a-z, 0-9, '-' and '_'");
  EXPECT_EQ(ParseSkillMd("---\nname: a\ndescription: d\n---\n", "SKILL.md").status().message(),
            "SKILL.md: the content is empty");
  EXPECT_EQ(ParseSkillMd("---\nname: [a]\ndescription: d\n---\nx", "SKILL.md").status().message(),
            "SKILL.md: name must be text");
  EXPECT_EQ(ParseSkillMd("---\nname: a\ndescription: d\ntags: [{b: c}]\n---\nx", "SKILL.md")
                .status()
                .message(),
            "SKILL.md: each of tags must be text");
}

TEST(SkillMd, FolderNamesAreKebabCase) {
  const auto folder = [](const char* name) {
    Skill skill;
    skill.name = name;
    return FolderName(skill);
  };
  EXPECT_EQ(folder("a_b-c"), "a-b-c");
  EXPECT_EQ(folder("__a__"), "a");
  EXPECT_EQ(folder("___"), "skill");
  EXPECT_EQ(folder(std::string(100, 'x').c_str()).size(), 64u);
}

TEST(SkillJson, PublishedLinesComeBackByteByByte) {
  for (
      const std::string line :
      {R"({"name": "a_b", "description": "d", "scope": "general", "tags": ["x", "y"], "content": "## T\nx", "verify_speedup": 1.50})",
       R"({"content":"c \u00b5","name":"n","source_uuid":123456789012345678901,"description":"d","tags":[],"scope":"s"})",
       R"({"name":"n","description":"d","content":"c"}  )"}) {
    const auto skill = ParseSkillJson(line);
    ASSERT_TRUE(skill.ok()) << skill.status().message();
    EXPECT_EQ(FormatSkillJson(*skill), line);
  }
}

TEST(SkillJson, AChangedSkillKeepsItsUnknownFields) {
  auto skill = *ParseSkillJson(R"({"name":"n","source_uuid":7,"description":"d","content":"c"})");
  skill.description = "e";
  EXPECT_EQ(
      FormatSkillJson(skill),
      R"({"name":"n","description":"e","scope":"general","tags":[],"content":"c","source_uuid":7})");
}

TEST(SkillJson, BadLinesSayWhatIsWrong) {
  const auto message = [](const char* line) { return ParseSkillJson(line).status().message(); };
  EXPECT_EQ(message("{"), "not valid JSON");
  EXPECT_EQ(message("[]"), "not a JSON object");
  EXPECT_EQ(message(R"({"name":"a","content":"c"})"), "\"description\" is missing");
  EXPECT_THAT(message(R"({"name":1,"description":"d","content":"c"})"),
              testing::StartsWith("a field has the wrong type"));
  EXPECT_THAT(message(R"({"name":"a","description":"d","content":"c","tags":"x"})"),
              testing::StartsWith("a field has the wrong type"));
  EXPECT_EQ(message(R"({"name":"a","description":" ","content":"c"})"), "the description is empty");
}

TEST(SkillJson, MarkdownAndJsonLinesConvertWithoutLoss) {
  const auto from_md = *ParseSkillMd(kFile, "SKILL.md");
  const auto from_json = ParseSkillJson(FormatSkillJson(from_md));
  ASSERT_TRUE(from_json.ok());
  EXPECT_EQ(*from_json, from_md);
  const auto back = ParseSkillMd(FormatSkillMd(*from_json), "SKILL.md");
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*back, from_md);
}

}  // namespace
}  // namespace davinci::skill
