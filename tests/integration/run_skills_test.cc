// What a run learns: lessons, experiments, and the library that they lead to.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "davinci/base/files.h"
#include "davinci/skill/formats.h"
#include "run_fixture.h"

namespace davinci::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(RunTest, EveryGoodRolloutIsALessonAndAFirstTurnWithoutCodeFailsNothing) {
  scenario_.replies["alpha@1#s0r0t1"] = "I would rather talk about it.";
  scenario_.replies["alpha@1#s0r0t2"] = Reply("ok 3.9", "from nothing");
  scenario_.replies["alpha@1#s1r2t1"] = Reply("ok 1.4", "another first loop");
  scenario_.replies["alpha@1#s1r2t2"] = Reply("ok 3.0", "another way of tiles");
  scenario_.recipe.step.trigger.require_first_correct = false;
  // The second lesson had no skills, so its control is another prompt.
  for (int sample = 0; sample < 12; ++sample) {
    const std::string label = fmt::format("alpha@1/verify/without/{}", sample);
    scenario_.replies[label + "/lesson/1"] = scenario_.replies[label];
  }
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  std::set<std::string> summarised;
  for (const SkillProposal& proposal : result->view.tasks[0].proposals)
    summarised.insert(ToString(proposal.after));
  EXPECT_THAT(summarised, ::testing::UnorderedElementsAre("alpha@1#s1r0t2", "alpha@1#s0r0t2",
                                                          "alpha@1#s1r2t2"));
}

TEST_F(RunTest, WhatTheLibraryRefusesIsNotPaidFor) {
  // The text of the skill that is there, under another name.
  const auto skills = skill::ReadSkills(dir_.path() / "skills.jsonl");
  ASSERT_TRUE(skills.ok());
  nlohmann::json twin = {{"name", "rows-by-tiles"},
                         {"description", "When softmax rows are long"},
                         {"scope", "general"},
                         {"tags", {"rows", "softmax", "cpp"}},
                         {"content", skills->documents[0].skill.content}};
  scenario_.replies["alpha@1/summary/1"] =
      "<tool_call>\n" +
      nlohmann::json{{"name", "update_skill_library"},
                     {"arguments", {{"think", "t"}, {"new_skills", {twin}}}}}
          .dump() +
      "\n</tool_call>";
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  for (const SkillProposal& proposal : result->view.tasks[0].proposals) {
    if (proposal.name == "rows-by-tiles") {
      EXPECT_THAT(proposal.refused, HasSubstr("near-duplicate of \"tile-rows\""));
    }
  }
  EXPECT_THAT(*ReadFile(dir_.path() / "calls"), ::testing::Not(HasSubstr("verify/with/1.0")));
}

TEST_F(RunTest, ABetterVersionIsComparedWithTheOldOneAndReplacesIt) {
  nlohmann::json better = {
      {"name", "tile-rows"},
      {"description", "When softmax rows are long: tile and keep them"},
      {"scope", "general"},
      {"tags", {"rows", "cpp", "tiles"}},
      {"content",
       "## Motivation\nEverything is different here.\n\n## Key Idea\nKeep each tile in "
       "vector registers.\n\n## Example\n```cpp\nfor (;;) keep();\n```\n"}};
  scenario_.replies["alpha@1/summary/0"] =
      "<tool_call>\n" +
      nlohmann::json{{"name", "update_skill_library"},
                     {"arguments", {{"think", "t"}, {"new_skills", {better}}}}}
          .dump() +
      "\n</tool_call>";
  // Its control is the prompt that has the old version.
  for (int sample = 0; sample < 12; ++sample) {
    const std::string label = fmt::format("alpha@1/verify/without/{}", sample);
    scenario_.replies[label + "/version/tile-rows"] = scenario_.replies[label];
  }
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  EXPECT_THAT(result->learned, ElementsAre("tile-rows"));
  auto library = skill::Library::Open(dir_.path() / "run/library.sqlite", {});
  ASSERT_TRUE(library.ok());
  EXPECT_THAT((*library)->Get("tile-rows")->value().skill.content, HasSubstr("vector registers"));
}

TEST_F(RunTest, AnotherTaskTakesPartInTheExperimentWhereOneFits) {
  // The proposal speaks of softmax, which is what beta computes.
  std::string& reply = scenario_.replies["alpha@1/summary/0"];
  reply.replace(reply.find("\"reduction\""), 11, "\"softmax\"");
  for (int sample = 1; sample < 12; sample += 2)
    for (const char* arm : {"without", "with/0.0"})
      scenario_.replies[fmt::format("alpha@1/verify/{}/{}/on/beta", arm, sample)] =
          Reply(fmt::format("ok {}.{:03}", arm[4] == '/' ? 4 : 2, sample),
                fmt::format("{} {}", arm, sample));
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  for (const Verification& verification : result->view.tasks[0].verifications) {
    std::set<std::string> tasks;
    for (const VerificationSample& sample : verification.samples) tasks.insert(sample.task);
    EXPECT_EQ(tasks.size(), verification.summary == 0 ? 2u : 1u);
  }
  EXPECT_THAT(result->learned, ElementsAre("keep-rows-in-registers"));
  auto library = skill::Library::Open(dir_.path() / "run/library.sqlite", {});
  EXPECT_THAT((*library)->Get("keep-rows-in-registers")->value().evidence[0].tasks,
              ElementsAre("alpha", "beta"));
}

TEST_F(RunTest, OnlySkillsForTheTargetAreShownAndSelectionNeedsNoModel) {
  const std::string line = *ReadFile(dir_.path() / "skills.jsonl");
  std::string other = line;
  other.replace(other.find("tile-rows"), 9, "warp-rows");
  other.replace(other.find("\"cpp\""), 5, "\"triton\"");
  other.replace(other.find("Treat a softmax row"), 19,
                "Give each warp a row of softmax, as it were,");
  ASSERT_TRUE(WriteFileAtomic(dir_.path() / "skills.jsonl", line + other).ok());
  scenario_.recipe.step.selection = rollout::SelectionMethod::kBm25;
  scenario_.recipe.step.schemes = 1;
  scenario_.recipe.step.null_scheme = false;
  scenario_.recipe.step.learn = false;
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished()) << result->trouble.ToString();
  for (const report::TaskView& task : result->view.tasks) {
    ASSERT_EQ(task.selections.size(), 1u);
    EXPECT_THAT(task.selections[0].chosen, ElementsAre("tile-rows"));
    EXPECT_EQ(task.trajectories.size(), 2u);
  }
  EXPECT_THAT(*ReadFile(dir_.path() / "calls"), ::testing::Not(HasSubstr("selection")));
}

}  // namespace
}  // namespace davinci::integration
