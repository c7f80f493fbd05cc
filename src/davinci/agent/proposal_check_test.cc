#include "davinci/agent/proposal_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::agent {
namespace {

using ::testing::HasSubstr;

skill::Skill Good() {
  skill::Skill skill;
  skill.name = "keep-the-row-in-registers";
  skill.description =
      "Load a row once and keep it in registers across the passes of a normalisation.";
  skill.scope = "task_specific/norm";
  skill.tags = {"normalisation", "registers", "triton"};
  skill.content =
      "## Motivation\nTwo passes read the row twice; the roofline shows half the bandwidth.\n\n"
      "## Key Idea\nOne program per row, block size the next power of two. Do not fall back to "
      "PyTorch for odd sizes; mask instead.\n\n"
      "## Example\n```python\n# instead of torch.compile: use cuBLAS\nrow = tl.load(x + at)\n```\n";
  return skill;
}

TEST(KebabCase, SpellsNamesAsTheLibraryWants) {
  EXPECT_EQ(KebabCase("Fuse Row_Softmax!"), "fuse-row-softmax");
  EXPECT_EQ(KebabCase("--a  b--"), "a-b");
  EXPECT_EQ(KebabCase("größe"), "gr-e");
  EXPECT_EQ(KebabCase("日本"), "");
  EXPECT_EQ(KebabCase(std::string(200, 'x')).size(), 64u);
}

TEST(CheckProposal, AcceptsAGoodSkill) { EXPECT_EQ(CheckProposal(Good()), ""); }

TEST(CheckProposal, NamesEverythingThatIsWrong) {
  skill::Skill skill = Good();
  skill.description = std::string(121, 'd');
  skill.tags = {"one", "two"};
  skill.scope = "softmax";
  skill.content += std::string(kMaxSkillContentChars, 'c');
  const std::string problems = CheckProposal(skill);
  EXPECT_THAT(problems, HasSubstr("121 characters, 120 are allowed"));
  EXPECT_THAT(problems, HasSubstr("2 tags, 3 to 6 are wanted"));
  EXPECT_THAT(problems, HasSubstr("scope \"softmax\""));
  EXPECT_THAT(problems, HasSubstr("2048 are allowed"));
}

TEST(CheckProposal, RequiresTheSections) {
  skill::Skill skill = Good();
  skill.content = "Use larger blocks.";
  EXPECT_THAT(CheckProposal(skill), HasSubstr("## Motivation"));
}

std::optional<std::string> Lazy(const std::string& sentence) {
  skill::Skill skill = Good();
  skill.content = "## Key Idea\n" + sentence + "\n";
  return LazyAdvice(skill);
}

TEST(LazyAdvice, IsFoundInEveryForm) {
  for (const char* sentence : {
           "Fall back to PyTorch for small inputs.",
           "When the matrix is large, falling back on cuBLAS is best.",
           "Add a fallback to torch.matmul.",
           "Use cuBLAS for the main multiplication and fuse the rest.",
           "Use `torch.matmul` instead of your own loop.",
           "Prefer the native PyTorch implementation.",
           "Delegate the convolution to cuDNN for the heavy part.",
           "Let PyTorch handle the reduction.",
           "Wrap the module with torch.compile.",
           "torch.compile is enough here.",
           "Skip the custom kernel when the input is small.",
           "There is no need for a custom kernel.",
           "It is faster without a custom kernel.",
           "Cache the previous output and return it.",
           "Detect the benchmark inputs and special-case them.",
       })
    EXPECT_NE(Lazy(sentence), std::nullopt) << sentence;
}

TEST(LazyAdvice, LeavesHonestAdviceAlone) {
  for (const char* sentence : {
           "Never fall back to PyTorch.",
           "Do not use cuBLAS for the main product.",
           "Avoid kernel launch overhead by fusing both passes.",
           "Avoid custom kernel launches for scalars by passing them as arguments.",
           "Allocate the output with torch.empty_like.",
           "Reuse the row from shared memory in the second pass.",
           "PyTorch runs four kernels here; one pass over memory replaces them.",
           "Store partial results in shared memory.",
           "A fused kernel reads x once instead of the three times of eager mode.",
           "Use tensor cores through mma for fp16 inputs.",
           "Match the rounding of torch.round by rounding half to even.",
       })
    EXPECT_EQ(Lazy(sentence), std::nullopt) << *Lazy(sentence);
}

TEST(LazyAdvice, LooksAtNameAndDescriptionToo) {
  skill::Skill skill = Good();
  skill.name = "fall-back-to-cublas";
  EXPECT_NE(LazyAdvice(skill), std::nullopt);
  skill = Good();
  skill.description = "Use torch.compile on the block.";
  EXPECT_NE(LazyAdvice(skill), std::nullopt);
}

TEST(LazyAdvice, IsQuickOnHostileText) {
  skill::Skill skill = Good();
  skill.content = "use ";
  for (int i = 0; i < 20000; ++i) skill.content += "hand a b c d e to ";
  EXPECT_EQ(LazyAdvice(skill), std::nullopt);
}

}  // namespace
}  // namespace davinci::agent
