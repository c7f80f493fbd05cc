#include "davinci/llm/code_extraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/llm/thinking.h"

namespace davinci::llm {
namespace {

using testing::HasSubstr;

Extraction Extract(std::string_view text, FinishReason finish = FinishReason::kStop) {
  return ExtractCode(text, finish, "ModelNew");
}

TEST(ExtractCode, TakesTheBlockThatDefinesTheClass) {
  const Extraction got = Extract(
      "First the install:\n```bash\npip install x\n```\nThen:\n"
      "```python\nimport torch\nclass ModelNew(torch.nn.Module):\n    pass\n```\nDone.");
  ASSERT_TRUE(got.ok()) << got.diagnosis;
  EXPECT_EQ(got.source, "import torch\nclass ModelNew(torch.nn.Module):\n    pass\n");
  EXPECT_EQ(got.num_blocks, 2);
  EXPECT_FALSE(got.unclosed);
}

TEST(ExtractCode, TakesTheLastOfSeveral) {
  const Extraction got = Extract(
      "```python\nclass ModelNew:\n    version = 1\n```\nBetter:\n"
      "```python\nclass ModelNew:\n    version = 2\n```\nUse it:\n```python\nModelNew()\n```\n");
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(got.source, HasSubstr("version = 2"));
}

TEST(ExtractCode, FenceInsideADocstringDoesNotEndTheBlock) {
  const Extraction got = Extract(
      "```python\nclass ModelNew:\n    \"\"\"Use:\n    ```\n    ModelNew()\n    ```\n    \"\"\"\n"
      "    x = 1\n```\n");
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(got.source, HasSubstr("x = 1"));
}

TEST(ExtractCode, StrayTripleQuoteDoesNotHideTheEnd) {
  const Extraction got = Extract("```python\nclass ModelNew: pass\nx = '''\n```\nText after.\n");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.source, "class ModelNew: pass\nx = '''\n");
}

TEST(ExtractCode, LongerFenceHoldsShorterOnes) {
  const Extraction got =
      Extract("````\nclass ModelNew:\n    pass\n# ends with\n```\n````\n```\nother\n```\n");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.source, "class ModelNew:\n    pass\n# ends with\n```\n");
}

TEST(ExtractCode, BlockInsideAMarkdownBlock) {
  const Extraction got =
      Extract("```markdown\n# Answer\n```python\nclass ModelNew: pass\n```\n```\n");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.source, "class ModelNew: pass\n");
}

TEST(ExtractCode, TildesIndentationAndWindowsLineEnds) {
  const Extraction got =
      Extract("1. Here:\r\n\r\n   ~~~python\r\n   class ModelNew:\r\n       pass\r\n   ~~~\r\n");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.source, "class ModelNew:\n    pass\n");
}

TEST(ExtractCode, ThinkingIsIgnored) {
  const std::string draft = "```python\nclass ModelNew:\n    draft = True\n```\n";
  const std::string answer = "```python\nclass ModelNew:\n    draft = False\n```\n";
  for (const std::string& text :
       {"<think>\n" + draft + "</think>\n" + answer, draft + "</think>\n" + answer,
        answer + "<think>\n" + draft, answer + "<think>\n" + draft + "</think>\n"}) {
    const Extraction got = Extract(text);
    ASSERT_TRUE(got.ok()) << text;
    EXPECT_THAT(got.source, HasSubstr("draft = False")) << text;
  }
}

TEST(ExtractCode, UnclosedFenceCountsUnlessTheReplyWasCut) {
  const char text[] = "```python\nclass ModelNew:\n    def forward(self):\n        return 1";
  const Extraction kept = Extract(text);
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(kept.unclosed);
  EXPECT_TRUE(kept.source.ends_with("return 1\n"));

  const Extraction cut = Extract(text, FinishReason::kLength);
  EXPECT_EQ(cut.outcome, ExtractionOutcome::kTruncated);
  EXPECT_THAT(cut.diagnosis, HasSubstr("cut at the length limit"));
}

TEST(ExtractCode, ClosedBlockWinsOverALaterUnclosedOne) {
  const Extraction got = Extract(
      "```python\nclass ModelNew:\n    whole = 1\n```\n```python\nclass ModelNew:\n    who");
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(got.source, HasSubstr("whole = 1"));
}

TEST(ExtractCode, UnclosedBlockEndsWhereTheNextBegins) {
  const Extraction got =
      Extract("```python\nclass ModelNew: pass\nRun it:\n```bash\npython x\n```\n");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.source, "class ModelNew: pass\nRun it:\n");
}

TEST(ExtractCode, DiagnosisNamesWhatIsThereInstead) {
  const Extraction got = Extract("```python\nclass ModelNwe:\n    pass\n```");
  EXPECT_EQ(got.outcome, ExtractionOutcome::kNoClass);
  EXPECT_THAT(got.diagnosis, HasSubstr("`class ModelNew`"));
  EXPECT_THAT(got.diagnosis, HasSubstr("`ModelNwe`"));
  EXPECT_THAT(got.diagnosis, HasSubstr("did you mean"));
}

TEST(ExtractCode, ClassMustBeCodeAtTheTopLevel) {
  EXPECT_EQ(Extract("```python\n# class ModelNew goes here\n```").outcome,
            ExtractionOutcome::kNoClass);
  EXPECT_EQ(Extract("```python\ndoc = '''\nclass ModelNew:\n'''\n```").outcome,
            ExtractionOutcome::kNoClass);
  EXPECT_EQ(Extract("```python\ndef f():\n    class ModelNew: pass\n```").outcome,
            ExtractionOutcome::kNoClass);
  EXPECT_EQ(Extract("```python\nclass ModelNewer: pass\n```").outcome, ExtractionOutcome::kNoClass);
}

TEST(ExtractCode, EveryFailureHasItsOwnOutcomeAndARemedy) {
  const struct {
    const char* text;
    ExtractionOutcome outcome;
  } cases[] = {{"", ExtractionOutcome::kEmptyReply},
               {" \n\t", ExtractionOutcome::kEmptyReply},
               {"<think>done</think>\n", ExtractionOutcome::kEmptyReply},
               {"<think>for ever", ExtractionOutcome::kOnlyThinking},
               {"class ModelNew: pass", ExtractionOutcome::kNoFence},
               {"```python\n```", ExtractionOutcome::kNoClass}};
  for (const auto& [text, outcome] : cases) {
    const Extraction got = Extract(text);
    EXPECT_EQ(ExtractionOutcomeName(got.outcome), ExtractionOutcomeName(outcome)) << text;
    EXPECT_THAT(got.diagnosis, HasSubstr("class ModelNew")) << text;
  }
}

TEST(SplitThinking, TagsInTheMiddleOfALineAreText) {
  const ThoughtAndAnswer split = SplitThinking("The tag <think> opens a section.\n");
  EXPECT_EQ(split.answer, "The tag <think> opens a section.\n");
  EXPECT_EQ(split.thinking, "");
}

}  // namespace
}  // namespace davinci::llm
