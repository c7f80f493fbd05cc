#include "davinci/skill/audience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::skill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kContent[] =
    "## Motivation\nm\n## Key Idea\nk\n## Example\nFor all.\n### triton\n```python\n### cpp\n"
    "tri\n```\n### cuda, cuda-inline\ncuc\n#### detail\n## Notes\nlast\n";

Record Tagged(std::vector<std::string> tags, std::string content = "c") {
  Record record;
  record.skill.tags = std::move(tags);
  record.skill.content = std::move(content);
  return record;
}

Evidence MeasuredFor(const std::string& target, const std::string& language, double low) {
  Evidence evidence;
  evidence.target = target;
  evidence.language = language;
  evidence.uplift = {low + 0.1, low, low + 0.2};
  return evidence;
}

TEST(Audience, ExamplesAreCutByTheirHeadingsOutsideOfCode) {
  EXPECT_THAT(ExampleLanguages(kContent),
              ElementsAre(Language::kTriton, Language::kCuda, Language::kCudaInline));
  const std::string triton = ContentFor(kContent, Language::kTriton);
  EXPECT_THAT(triton, HasSubstr("For all."));
  EXPECT_THAT(triton, HasSubstr("tri\n"));
  EXPECT_THAT(triton, HasSubstr("## Notes\nlast"));
  EXPECT_THAT(triton, Not(HasSubstr("cuc")));
  const std::string cuda = ContentFor(kContent, Language::kCudaInline);
  EXPECT_THAT(cuda, HasSubstr("cuc\n#### detail"));
  EXPECT_THAT(cuda, Not(HasSubstr("tri\n")));
  // No example for it: everything, rather than nothing.
  EXPECT_EQ(ContentFor(kContent, Language::kCpp), kContent);
  EXPECT_EQ(ContentFor(kContent, Language::kAuto), kContent);
  EXPECT_EQ(ContentFor("## Example\n### Notes\nx", Language::kTriton), "## Example\n### Notes\nx");
  EXPECT_EQ(ContentFor("", Language::kTriton), "");
}

TEST(Audience, APromptShowsTheExampleOfItsLanguageOnly) {
  Skill skill;
  skill.name = "s";
  skill.description = "d";
  skill.content = kContent;
  EXPECT_THAT(RenderSkill(skill, Language::kCuda), Not(HasSubstr("tri\n")));
  EXPECT_THAT(RenderSkill(skill), HasSubstr("tri\n"));
}

TEST(Audience, LanguagesComeFromHeadingsThenEvidenceThenTags) {
  Record record = Tagged({"cpp"}, kContent);
  EXPECT_EQ(LanguagesOf(record).size(), 3u);
  record.skill.content = "plain";
  EXPECT_THAT(LanguagesOf(record), ElementsAre(Language::kCpp));
  record.evidence = {MeasuredFor("cuda", "triton", 1.2)};
  EXPECT_THAT(LanguagesOf(record), ElementsAre(Language::kTriton));
  EXPECT_THAT(LanguagesOf(Tagged({"triton", "cuda"})), ElementsAre(Language::kTriton));
  EXPECT_THAT(LanguagesOf(Tagged({"CUDA"})), ElementsAre(Language::kCuda));
  EXPECT_THAT(LanguagesOf(Tagged({"cuda"}, "x = tl.load(p)")), ElementsAre(Language::kTriton));
  EXPECT_THAT(LanguagesOf(Tagged({"softmax"})), IsEmpty());
}

TEST(Audience, AnotherTargetDoesNotFitAndAnotherLanguageFitsLess) {
  const Audience triton{Target::kCuda, Language::kTriton};
  EXPECT_EQ(FitOf(Tagged({"cpp", "cpu"}), triton), Fit::kOtherTarget);
  EXPECT_EQ(FitOf(Tagged({"cuda"}), triton), Fit::kOtherLanguage);
  EXPECT_EQ(FitOf(Tagged({"triton"}), triton), Fit::kFits);
  EXPECT_EQ(FitOf(Tagged({}), triton), Fit::kFits);
  EXPECT_EQ(FitOf(Tagged({"cuda"}), {Target::kCuda, Language::kCudaInline}), Fit::kFits);
  EXPECT_EQ(FitOf(Tagged({"cuda"}), {Target::kCpu, Language::kCpp}), Fit::kOtherTarget);
  EXPECT_EQ(FitOf(Tagged({"cpu"}), {Target::kCpu, Language::kCpp}), Fit::kFits);
  Record measured = Tagged({});
  measured.evidence = {MeasuredFor("cpu", "", 1.2)};
  EXPECT_EQ(FitOf(measured, triton), Fit::kOtherTarget);
}

TEST(Audience, ProvenMeansMeasuredHereWithALowerEndAboveOne) {
  Record record = Tagged({});
  const Audience cuda{Target::kCuda, Language::kCudaInline};
  EXPECT_FALSE(IsProvenFor(record, cuda));
  record.evidence = {MeasuredFor("cuda", "triton", 1.5), MeasuredFor("cpu", "cpp", 1.5)};
  EXPECT_FALSE(IsProvenFor(record, cuda));
  EXPECT_TRUE(IsProvenFor(record, {Target::kCuda, Language::kAuto}));
  record.evidence.push_back(MeasuredFor("cuda", "cuda", 1.5));
  EXPECT_TRUE(IsProvenFor(record, cuda));
  record.evidence.back().uplift.low = 0.99;
  EXPECT_FALSE(IsProvenFor(record, cuda));
}

}  // namespace
}  // namespace davinci::skill
