#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "davinci/base/json_text.h"
#include "davinci/llm/tools.h"
#include "davinci/sftdata/diversity.h"
#include "davinci/sftdata/example.h"
#include "davinci/sftdata/family.h"
#include "davinci/sftdata/published.h"
#include "davinci/sftdata/trajectory_filter.h"

namespace davinci::sftdata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Row PolicyRow(const std::string& id, const std::string& reply) {
  Row row;
  row.messages = {
      {"system", "You write kernels."}, {"user", "Rewrite this."}, {"assistant", reply, "", {}, 1}};
  row.origin.id = id;
  return row;
}

// --- row ---

TEST(Row, NativeFormIsReadBackUnchanged) {
  Row row = PolicyRow("run/a#s0r0", "```python\n1\n```");
  row.messages.back().thinking = "hm";
  row.messages.back().weight = 0.5;
  row.messages.push_back({"assistant", "", "", {{"select_skills", R"({"think":"x"})"}}, 1});
  row.tools = {{"select_skills", "choose", {{"type", "object"}}}};
  row.enable_thinking = false;
  row.origin = {"run/a#s0r0",  "a",     "softmax",      "class Model: pass",
                "Model",       1.5,     {0, 1.5},       2,
                {"s"},         "train", {"own_kernel"}, false,
                "compile_only"};
  row.agent = rl::AgentKind::kSummary;
  const auto again = ParseRow(JsonText(ToJson(row)));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(*again, row);
}

TEST(Row, TheAgentFollowsFromTheToolWhereNoKeySaysIt) {
  const auto row = ParseRow(
      R"({"messages": [{"role": "user", "content": "x"}], "tools": "[{\"name\": \"update_skill_library\"}]"})");
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->agent, rl::AgentKind::kSummary);
  EXPECT_THAT(ParseRow(R"({"messages": [{"role": "user"}], "agent": "judge"})").status().message(),
              HasSubstr("policy, selection, summary"));
}

// --- example ---

llm::Request Asked(std::vector<llm::Message> messages) {
  llm::Request request;
  request.messages = std::move(messages);
  return request;
}
llm::Message Says(llm::Role role, const std::string& text) { return {role, text, {}, ""}; }

RecordedTurn TurnOf(const llm::Request& request, const std::string& reply, double weight) {
  RecordedTurn turn;
  turn.prompt = *RowOfRequest(llm::ToJson(request));
  turn.reply.text = reply;
  turn.weight = weight;
  return turn;
}

TEST(RowsOfConversation, TurnsThatContinueEachOtherShareARow) {
  const auto first = Asked({Says(llm::Role::kSystem, "s"), Says(llm::Role::kUser, "t")});
  auto second = first;
  second.messages.push_back(Says(llm::Role::kAssistant, "one"));
  second.messages.push_back(Says(llm::Role::kUser, "wrong"));
  // The third turn's history was shortened: the first exchange is gone.
  auto third = first;
  third.messages.push_back(Says(llm::Role::kAssistant, "two"));
  third.messages.push_back(Says(llm::Role::kUser, "slow"));
  std::vector<size_t> last;
  const auto rows = RowsOfConversation(
      {TurnOf(first, "one", 0), TurnOf(second, "two", 1), TurnOf(third, "three", 1)}, &last);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(last, ElementsAre(1, 2));
  ASSERT_EQ(rows[0].messages.size(), 5U);
  EXPECT_EQ(rows[0].messages[2].content, "one");
  EXPECT_EQ(rows[0].messages[2].weight, 0);
  EXPECT_EQ(rows[0].messages[4].content, "two");
  EXPECT_EQ(rows[0].messages[4].weight, 1);
  EXPECT_EQ(rows[1].messages[2].weight, 0);  // another row trains it
  EXPECT_EQ(rows[1].messages[4].content, "three");
}

TEST(RowsOfConversation, EndsBehindTheLastTrainedReply) {
  const auto first = Asked({Says(llm::Role::kUser, "t")});
  auto second = first;
  second.messages.push_back(Says(llm::Role::kAssistant, "one"));
  second.messages.push_back(Says(llm::Role::kUser, "good"));
  std::vector<size_t> last;
  const auto rows =
      RowsOfConversation({TurnOf(first, "one", 1), TurnOf(second, "worse", 0)}, &last);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].messages.size(), 2U);
  EXPECT_EQ(rows[0].messages[1].weight, 1);
  EXPECT_THAT(RowsOfConversation({TurnOf(first, "one", 0)}, &last), IsEmpty());
}

TEST(SelectionExample, ACallInAnyFormBecomesTheCanonicalOne) {
  Row prompt = *RowOfRequest(llm::ToJson(Asked({Says(llm::Role::kUser, "choose")})));
  llm::Reply reply;
  reply.text =
      "<tool_call>{\"name\": \"select_skills\", \"arguments\": {\"think\": \"t\", "
      "\"selected_skills\": [{\"name\": \"tile-it\", \"reason\": \"r\"}]}}</tool_call>";
  const ToolExample example = SelectionExample(prompt, reply, {"tile-it", "fuse"}, 3);
  EXPECT_EQ(example.problem, "");
  EXPECT_THAT(example.row.origin.skills, ElementsAre("tile-it"));
  ASSERT_EQ(example.row.messages.back().tool_calls.size(), 1U);
  EXPECT_EQ(example.row.messages.back().tool_calls[0].arguments,
            R"({"think":"t","selected_skills":[{"name":"tile-it","reason":"r"}]})");
  EXPECT_THAT(SelectionExample(prompt, reply, {"fuse"}, 3).problem, HasSubstr("bad_schema"));
  reply.text = "I would tile it.";
  EXPECT_THAT(SelectionExample(prompt, reply, {"fuse"}, 3).problem, HasSubstr("bad_schema"));
}

// --- family ---

TEST(Family, TheCostlyOperatorDecides) {
  const auto model = [](const std::string& body) {
    return "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, "
           "x):\n"
           "        return " +
           body + "\ndef get_inputs():\n    return [torch.softmax(torch.randn(4), 0)]\n";
  };
  EXPECT_EQ(FamilyOf(model("torch.softmax(x @ x.T, -1)")), "matmul");
  EXPECT_EQ(FamilyOf(model("torch.relu(nn.functional.conv2d(x, x))")), "conv");
  EXPECT_EQ(FamilyOf(model("torch.softmax(x, -1)")), "softmax");
  EXPECT_EQ(FamilyOf(model("nn.functional.scaled_dot_product_attention(x, x, x)")), "attention");
  EXPECT_EQ(FamilyOf(model("x * x + 1.0")), "pointwise");
  EXPECT_EQ(FamilyOf(model("torch.relu(x) * 2.0")), "activation");
  EXPECT_EQ(FamilyOf("nothing"), "other");
}

// --- trajectory filter ---

Turn Judged(int number, Outcome outcome, double speedup, const std::string& code) {
  Turn turn;
  turn.id = {{"task", 0, 0, 1}, number};
  turn.evaluation.outcome = outcome;
  if (speedup > 0) {
    turn.evaluation.speedup.emplace();
    turn.evaluation.speedup->median = speedup;
  }
  turn.code_hash = code;
  turn.finish_reason = "stop";
  turn.reply = "code " + code;
  return turn;
}

std::vector<std::string> Rules(const Trajectory& trajectory, TurnChoice choice) {
  TrajectoryRules rules;
  rules.turns = choice;
  std::vector<std::string> names;
  for (const TurnVerdict& turn : AssessTrajectory(trajectory, rules).turns)
    names.push_back(turn.rule);
  return names;
}

TEST(TrajectoryFilter, EveryRuleNamesItself) {
  Trajectory trajectory;
  trajectory.turns = {
      Judged(1, Outcome::kJudgeError, 0, "a"), Judged(2, Outcome::kParseError, 0, ""),
      Judged(3, Outcome::kOk, 1.5, "b"),       Judged(4, Outcome::kMismatch, 0, "c"),
      Judged(5, Outcome::kOk, 1.2, "d"),       Judged(6, Outcome::kOk, 1.5, "b"),
      Judged(7, Outcome::kOk, 2.0, "e"),       Judged(8, Outcome::kOk, 2.5, "f")};
  trajectory.turns[6].finish_reason = "length";
  for (int i = 0; i < 40; ++i) trajectory.turns[7].reply += " and so on and on it goes";
  EXPECT_THAT(Rules(trajectory, TurnChoice::kCorrect),
              ElementsAre("judge_error", "no_code", "", "not_chosen", "", "repeated_code",
                          "truncated", "loop"));
  EXPECT_THAT(Rules(trajectory, TurnChoice::kImproving),
              ElementsAre("judge_error", "no_code", "", "not_chosen", "not_chosen", "repeated_code",
                          "truncated", "loop"));
  EXPECT_THAT(
      Rules(trajectory, TurnChoice::kAll),
      ElementsAre("judge_error", "no_code", "", "", "", "repeated_code", "truncated", "loop"));
  trajectory.turns.resize(5);
  EXPECT_THAT(Rules(trajectory, TurnChoice::kBest),
              ElementsAre("judge_error", "no_code", "", "not_chosen", "not_chosen"));
  TrajectoryRules strict;
  strict.min_speedup = 1.6;
  EXPECT_EQ(AssessTrajectory(trajectory, strict).rule, "no_gain");
  EXPECT_EQ(AssessTrajectory(trajectory, {}).best, 3);
}

TEST(RepeatedShare, CodeThatRepeatsLinesIsNoLoop) {
  std::string code;
  for (int i = 0; i < 60; ++i) code += "y" + std::to_string(i) + " = load(x) * scale + bias\n";
  EXPECT_LT(RepeatedShare(code), 0.1);
  EXPECT_EQ(RepeatedShare("short short short"), 0);
}

// --- diversity ---

constexpr char kSoftmax[] =
    "import torch\nclass Model(torch.nn.Module):\n  def forward(self, x):\n"
    "    m = x.amax(dim=-1, keepdim=True)\n    e = torch.exp(x - m)\n"
    "    return e / e.sum(dim=-1, keepdim=True)\n";

RowFacts Fact(const std::string& id, const std::string& reference, double speedup) {
  RowFacts facts;
  facts.id = facts.content = id;
  facts.reference = reference;
  facts.family = "softmax";
  facts.speedup = speedup;
  return facts;
}

TEST(Diversity, CapsEachGroupOfReferencesAndEachCell) {
  std::string wider = kSoftmax;  // differs in a number: one group
  wider.replace(wider.find("-1"), 2, "-2");
  std::vector<RowFacts> rows;
  for (int i = 0; i < 6; ++i)
    rows.push_back(Fact("r" + std::to_string(i), i % 2 == 0 ? kSoftmax : wider, 1.7));
  DiversityOptions options;
  options.per_reference = 4;
  auto result = ChooseDiverse(rows, {}, options);
  EXPECT_EQ(result.kept.size(), 4U);
  EXPECT_EQ(std::ranges::count(result.rule, "reference_cap"), 2);
  options.per_cell = 3;
  result = ChooseDiverse(rows, {}, options);
  EXPECT_EQ(result.kept.size(), 3U);
  rows[0].speedup = 4;  // a cell of its own
  EXPECT_EQ(ChooseDiverse(rows, {}, options).kept.size(), 4U);
}

TEST(Diversity, TheChoiceDependsOnTheSeedAndNotOnTheOrder) {
  std::vector<RowFacts> rows;
  for (int i = 0; i < 40; ++i) rows.push_back(Fact("r" + std::to_string(i), kSoftmax, 1.7));
  DiversityOptions options;
  const auto names = [&](const std::vector<RowFacts>& from) {
    std::vector<std::string> kept;
    for (const size_t i : ChooseDiverse(from, {}, options).kept) kept.push_back(from[i].id);
    std::ranges::sort(kept);
    return kept;
  };
  const auto first = names(rows);
  EXPECT_EQ(first.size(), 16U);
  std::ranges::reverse(rows);
  EXPECT_EQ(names(rows), first);
  options.seed = 1;
  EXPECT_NE(names(rows), first);
}

TEST(Diversity, EvaluationTasksAreFoundUnderOtherNames) {
  std::string renamed = kSoftmax;
  for (size_t at; (at = renamed.find(" e ")) != std::string::npos;)
    renamed.replace(at, 3, " weights ");
  std::vector<RowFacts> rows = {Fact("a", renamed, 1.2),
                                Fact("b",
                                     "import torch\nclass Model(torch.nn.Module):\n  def "
                                     "forward(self, x, y):\n    return torch.relu(x @ y)\n",
                                     1.2)};
  const auto result = ChooseDiverse(rows, {kSoftmax}, {});
  EXPECT_THAT(result.rule, ElementsAre("contaminated", ""));
}

TEST(Diversity, SummariesOfOneIdeaAreTakenOnce) {
  std::vector<RowFacts> rows;
  for (int i = 0; i < 2; ++i) {
    RowFacts row = Fact("s" + std::to_string(i), "", 1.5);
    row.agent = rl::AgentKind::kSummary;
    row.skills = {
        "## Motivation\nMemory traffic bounds it.\n## Key Idea\nKeep the row in registers "
        "and read it once, then write it once.\n## Example\nfor i in range(n): s += x[i]" +
        std::string(static_cast<size_t>(i), '.')};
    rows.push_back(row);
  }
  rows.push_back(rows[0]);  // the very row
  const auto result = ChooseDiverse(rows, {}, {});
  EXPECT_EQ(result.kept.size(), 1U);
  EXPECT_EQ(std::ranges::count(result.rule, "duplicate"), 1);
  EXPECT_EQ(std::ranges::count(result.rule, "near_skill"), 1);
  EXPECT_EQ(CountsOf(rows, result)["summary"]["dropped"]["near_skill"], 1);
}

TEST(HoldOut, KeepsAGroupTogether) {
  std::vector<RowFacts> rows;
  for (int i = 0; i < 20; ++i)
    rows.push_back(Fact("r" + std::to_string(i),
                        i < 10
                            ? kSoftmax
                            : "import torch\nclass Model(torch.nn.Module):\n  def forward(self, a, "
                              "b):\n    return torch.relu(a @ b)\n",
                        1.7));
  const auto result = ChooseDiverse(rows, {}, {});
  const auto held = HoldOut(rows, result, 0.5, 0);
  EXPECT_EQ(std::ranges::count(held, true), 10);
  for (int i = 1; i < 10; ++i) EXPECT_EQ(held[i], held[0]);
}

// --- published formats ---

Row CallRow(rl::AgentKind agent) {
  const bool selection = agent == rl::AgentKind::kSelection;
  Row row;
  row.agent = agent;
  row.messages = {{"system", "s"}, {"user", "u"}};
  const llm::ToolSpec spec =
      selection ? llm::SelectSkillsTool({"tile-it", "fuse"}, 3) : llm::UpdateSkillLibraryTool(2);
  row.tools = {{spec.name, spec.description, OrderedJson::parse(JsonText(spec.parameters))}};
  RowMessage reply{"assistant", "", "thought", {}, 1};
  reply.tool_calls = {
      {spec.name, selection ? R"({"think":"t","selected_skills":[{"name":"fuse","reason":"r"}]})"
                            : R"({"think":"t","new_skills":[{"name":"n","description":"d"}]})"}};
  row.messages.push_back(reply);
  row.origin.id = "x";
  return row;
}

TEST(Published, EveryFormatThatHoldsRepliesIsReadBackAsTheSameTraining) {
  Row policy = PolicyRow("p", "```python\n1\n```");
  policy.enable_thinking = false;
  policy.origin.reference = "class Model: pass";
  policy.origin.round_speedups = {0, 1.5};
  policy.origin.speedup = 1.5;
  for (const auto& [row, format] : {std::pair{policy, Format::kMerged},
                                    {policy, Format::kTrajectories},
                                    {CallRow(rl::AgentKind::kSelection), Format::kSelections},
                                    {CallRow(rl::AgentKind::kSummary), Format::kSummaries}}) {
    const auto json = ToFormat(row, format);
    ASSERT_TRUE(json) << FormatName(format);
    const auto again = ParseAnyRow(JsonText(*json));
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    ASSERT_TRUE(*again);
    EXPECT_EQ(ContentHash(**again), ContentHash(row)) << FormatName(format);
  }
  const auto trajectory = ParseAnyRow(JsonText(*ToFormat(policy, Format::kTrajectories)));
  EXPECT_EQ((*trajectory)->origin.reference, "class Model: pass");
  EXPECT_EQ((*trajectory)->origin.speedup, 1.5);
  EXPECT_TRUE(ToFormat(policy, Format::kMerged)->at("messages").is_string());
  EXPECT_FALSE(ToFormat(policy, Format::kSelections));
}

TEST(Published, FailedCallsGiveNoRowAndTasksAreNoExamples) {
  const auto failed = ParseAnyRow(
      R"({"uuid": "1", "status": "api_error", "tool_call_raw": null, "input_messages": []})");
  ASSERT_TRUE(failed.ok());
  EXPECT_FALSE(*failed);
  Row policy = PolicyRow("p", "x");
  policy.origin.reference = "class Model: pass";
  const auto task = ParseAnyRow(JsonText(*ToFormat(policy, Format::kRl)));
  EXPECT_THAT(task.status().message(), HasSubstr("task set"));
}

}  // namespace
}  // namespace davinci::sftdata
