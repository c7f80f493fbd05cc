// Requests and readings of the three agents; the texts are golden_prompts_test.cc's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "davinci/agent/policy_agent.h"
#include "davinci/agent/selection_agent.h"
#include "davinci/agent/summary_agent.h"
#include "davinci/agent/testing/evaluations.h"

namespace davinci::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const PromptSet& Prompts() {
  static const auto* prompts =
      new PromptSet(PromptSet::Load(std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts").value());
  return *prompts;
}

TaskBrief Task() {
  TaskBrief task;
  task.reference = "class Model: pass";
  task.language = Language::kCpp;
  return task;
}

std::vector<skill::Skill> Candidates() {
  std::vector<skill::Skill> skills;
  for (const char* name : {"alpha", "beta", "gamma", "delta"}) {
    skill::Skill skill;
    skill.name = name;
    skill.description = std::string("about ") + name;
    skill.content = "BODY OF " + skill.name;
    skills.push_back(skill);
  }
  return skills;
}

llm::Reply Writes(const char* text) {
  llm::Reply reply;
  reply.text = text;
  return reply;
}
llm::Reply Calls(const char* tool, const std::string& arguments) {
  llm::Reply reply;
  reply.tool_calls = {{"1", tool, arguments}};
  return reply;
}
llm::Reply Selects(const std::string& names) {
  return Calls("select_skills", R"({"think": "because", "selected_skills": [)" + names + "]}");
}

TEST(SelectionRequest, ShowsNamesAndDescriptionsButNoBodies) {
  const auto request = BuildSelectionRequest(Prompts(), Task(), "A CPU.", Candidates());
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  ASSERT_THAT(request->messages, SizeIs(2));
  EXPECT_THAT(request->messages[1].content, HasSubstr("4. `delta` (general; )\n   about delta"));
  EXPECT_THAT(request->messages[1].content, Not(HasSubstr("BODY OF")));
  EXPECT_EQ(request->required_tool, "select_skills");
}

TEST(SelectionRequest, WithoutCandidatesThereIsNothingToAsk) {
  EXPECT_EQ(BuildSelectionRequest(Prompts(), Task(), "", {}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(ReadSelection, KeepsOrderAndDropsRepetitionsStrangersAndTheExcess) {
  const auto reading = ReadSelection(
      Selects(R"({"name": "gamma", "reason": "r"}, {"name": "stranger", "reason": "r"},
                 {"name": "gamma", "reason": "r"}, {"name": "alpha", "reason": "r"},
                 {"name": "beta", "reason": "r"}, {"name": "delta", "reason": "r"})"),
      Candidates());
  EXPECT_EQ(reading.error, std::nullopt);
  EXPECT_THAT(reading.scheme.skills, ElementsAre("gamma", "alpha", "beta"));
  EXPECT_THAT(reading.unknown_names, ElementsAre("stranger"));
  EXPECT_EQ(reading.num_dropped, 2);
  EXPECT_EQ(reading.think, "because");
}

TEST(ReadSelection, ChoosingNothingIsAChoice) {
  const auto reading = ReadSelection(Selects(""), Candidates());
  EXPECT_EQ(reading.error, std::nullopt);
  EXPECT_TRUE(reading.scheme.IsNull());
}

TEST(ReadSelection, KeepsTheKindOfError) {
  const auto prose = ReadSelection(Writes("I like alpha."), Candidates());
  EXPECT_EQ(prose.error, llm::ToolCallError::kNoCall);
  EXPECT_FALSE(prose.problem.empty());
  EXPECT_TRUE(prose.scheme.IsNull());
  const auto strangers =
      ReadSelection(Selects(R"({"name": "stranger", "reason": "r"})"), Candidates());
  EXPECT_EQ(strangers.error, llm::ToolCallError::kNoneShown);
}

TEST(StartConversation, HoldsContractSkillsAndClassName) {
  TaskBrief task = Task();
  task.class_name = "NetNew";
  const auto conversation = StartConversation(Prompts(), task, "A CPU.", Candidates());
  ASSERT_TRUE(conversation.ok()) << conversation.status().ToString();
  EXPECT_THAT(conversation->system, HasSubstr("dv.cpp_module"));
  EXPECT_THAT(conversation->system, HasSubstr("It defines `NetNew`"));
  EXPECT_THAT(conversation->task, HasSubstr("BODY OF beta"));
}

TEST(StartConversation, UnderTheNullSchemeSkillsAreNotMentioned) {
  const auto conversation = StartConversation(Prompts(), Task(), "A CPU.", {});
  ASSERT_TRUE(conversation.ok());
  EXPECT_THAT(conversation->task, Not(HasSubstr("Techniques")));
}

TEST(StartConversation, RefusesALanguageThatCannotRunThere) {
  TaskBrief task = Task();
  task.language = Language::kTriton;
  const auto conversation = StartConversation(Prompts(), task, "", {});
  ASSERT_FALSE(conversation.ok());
  EXPECT_THAT(conversation.status().message(), HasSubstr("languages for it: cpp"));
  task.language = Language::kPython;
  EXPECT_FALSE(StartConversation(Prompts(), task, "", {}).ok());
}

TEST(BuildPolicyRequest, AlternatesRolesAndEndsWithTheUser) {
  Conversation conversation{"s", "t", {{"r1", "f1"}, {"r2", "f2"}}};
  const auto request = BuildPolicyRequest(conversation, 1000);
  ASSERT_TRUE(request.ok());
  std::string roles;
  for (const llm::Message& message : request->messages)
    roles += llm::RoleName(message.role).substr(0, 1);
  EXPECT_EQ(roles, "suauau");
  EXPECT_EQ(request->messages.back().content, "f2");
  EXPECT_THAT(request->tools, IsEmpty());
}

TEST(HistoryText, LeavesThinkingOut) {
  EXPECT_THAT(HistoryText(Writes("<think>hm</think>The answer.")), Not(HasSubstr("hm")));
}

TEST(NoCode, TellsTheDiagnosisOfTheExtraction) {
  const TaskBrief task = Task();
  const auto extraction =
      llm::ExtractCode(Writes("```python\nclass Other: pass\n```"), task.class_name);
  ASSERT_FALSE(extraction.ok());
  const auto text = RenderNoCode(Prompts(), task, extraction, {.turn = 1, .num_turns = 3});
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_THAT(*text, HasSubstr(extraction.diagnosis));
}

constexpr char kGoodProposal[] =
    R"({"name": "Keep the Row", "description": "Load a row once and keep it.", "scope": "general",
        "tags": ["memory", "rows", "cpp"],
        "content": "## Motivation\nBandwidth.\n\n## Key Idea\nOnce.\n\n## Example\n`x`\n"})";
constexpr char kLazyProposal[] =
    R"({"name": "use-mkl", "description": "Use MKL instead of loops.", "scope": "general",
        "tags": ["memory", "rows", "cpp"],
        "content": "## Motivation\nB.\n\n## Key Idea\nO.\n\n## Example\n`x`\n"})";

TEST(ReadSummary, ChecksEveryProposal) {
  const auto reading =
      ReadSummary(Calls("update_skill_library", std::string(R"({"think": "t", "new_skills": [)") +
                                                    kGoodProposal + "," + kLazyProposal + "]}"));
  EXPECT_EQ(reading.error, std::nullopt);
  ASSERT_THAT(reading.proposals, SizeIs(2));
  EXPECT_EQ(reading.proposals[0].skill.name, "keep-the-row");
  EXPECT_EQ(reading.proposals[0].refused, "");
  EXPECT_THAT(reading.proposals[1].refused, HasSubstr("leave the work to others"));
}

TEST(ReadSummary, TakesNoMoreThanAllowed) {
  std::string three;
  for (const char* name : {"a-a", "b-b", "c-c"}) {
    std::string proposal = kGoodProposal;
    proposal.replace(proposal.find("Keep the Row"), 12, name);
    three += (three.empty() ? "" : ",") + proposal;
  }
  const auto reading = ReadSummary(
      Calls("update_skill_library", R"({"think": "t", "new_skills": [)" + three + "]}"));
  EXPECT_THAT(reading.proposals, SizeIs(2));
}

TEST(ReadSummary, KeepsTheKindOfError) {
  EXPECT_EQ(ReadSummary(Writes("Nothing to say.")).error, llm::ToolCallError::kNoCall);
}

TEST(SummaryRequest, ShowsBothVersionsAndWhatWasInjected) {
  const auto request = BuildSummaryRequest(
      Prompts(), Task(), "A CPU.", Candidates(), {Candidates().front()},
      {1, "FIRST CODE", testing::Timed(0.5)}, {3, "BEST CODE", testing::Timed(2.0)});
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  const std::string& text = request->messages[1].content;
  EXPECT_THAT(text, HasSubstr("FIRST CODE"));
  EXPECT_THAT(text, HasSubstr("# Turn 3: 4.00 times as fast as turn 1"));
  EXPECT_THAT(text, HasSubstr("BODY OF gamma"));
  // What the library has, by name and description.
  const skill::Skill known = Candidates().front();
  EXPECT_THAT(text, HasSubstr("- `" + known.name + "`: " + known.description));
  EXPECT_EQ(request->required_tool, "update_skill_library");
}

}  // namespace
}  // namespace davinci::agent
