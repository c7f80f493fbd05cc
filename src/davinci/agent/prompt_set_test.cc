#include "davinci/agent/prompt_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "davinci/base/files.h"

namespace davinci::agent {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kInstalled = std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts";

class PromptSetTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeDirs((folder_.path() / name).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / name, text).ok());
  }
  TempDir folder_ = MakeTempDir().value();
};

TEST_F(PromptSetTest, TheInstalledPromptsAreComplete) {
  const auto prompts = PromptSet::Load(kInstalled);
  ASSERT_TRUE(prompts.ok()) << prompts.status().ToString();
  for (const Language language :
       {Language::kTriton, Language::kCuda, Language::kCudaInline, Language::kCpp})
    EXPECT_NE(prompts->Example(language), nullptr);
  EXPECT_EQ(prompts->Example(Language::kPython), nullptr);
}

TEST_F(PromptSetTest, AFileInTheOverrideFolderReplacesTheInstalledOne) {
  Write("contract_cpp.md",
        "---\nabout: mine\nvariables:\n  class_name: c\n---\nWrite {{class_name}}!\n");
  const auto prompts = PromptSet::Load(kInstalled, folder_.path());
  ASSERT_TRUE(prompts.ok()) << prompts.status().ToString();
  EXPECT_EQ(*prompts->Render("contract_cpp", {{"class_name", "X"}}), "Write X!");
  EXPECT_NE(prompts->hash(), PromptSet::Load(kInstalled)->hash());
}

TEST_F(PromptSetTest, AnOverrideThatNoPromptHasIsAnError) {
  Write("feedbak.md", "---\n---\n");
  const auto prompts = PromptSet::Load(kInstalled, folder_.path());
  ASSERT_FALSE(prompts.ok());
  EXPECT_THAT(prompts.status().message(),
              HasSubstr("feedbak.md: no prompt has this name (did you mean \"feedback.md\"?)"));
}

TEST_F(PromptSetTest, AnOverrideMayNotAskForWhatTheCodeCannotGive) {
  Write("contract_cpp.md", "---\nvariables:\n  class_name: c\n  reward: r\n---\n{{reward}}\n");
  const auto prompts = PromptSet::Load(kInstalled, folder_.path());
  ASSERT_FALSE(prompts.ok());
  EXPECT_THAT(prompts.status().message(),
              HasSubstr("contract_cpp.md:4: there is no variable reward for this prompt"));
}

TEST_F(PromptSetTest, AllProblemsAreReportedAtOnce) {
  const auto prompts = PromptSet::Load(folder_.path());  // nothing there
  ASSERT_FALSE(prompts.ok());
  EXPECT_THAT(prompts.status().message(), HasSubstr("feedback.md"));
  EXPECT_THAT(prompts.status().message(), HasSubstr("summary_task.md"));
}

TEST_F(PromptSetTest, AMissingOverrideFolderIsAnError) {
  EXPECT_FALSE(PromptSet::Load(kInstalled, folder_.path() / "nowhere").ok());
}

}  // namespace
}  // namespace davinci::agent
