#include "davinci/llm/tool_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::llm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kShown = {"fuse-epilogue", "vector-loads", "online-softmax",
                                         "persistent-grid"};

Reply Says(std::string text, FinishReason finish = FinishReason::kStop) {
  Reply reply;
  reply.text = std::move(text);
  reply.finish_reason = finish;
  return reply;
}

Reply Calls(std::string name, std::string arguments) {
  Reply reply;
  reply.tool_calls.push_back({"call_1", std::move(name), std::move(arguments)});
  reply.finish_reason = FinishReason::kToolCalls;
  return reply;
}

ToolResult<SkillSelection> Select(const Reply& reply) {
  return ParseSelectSkills(reply, kShown, 3);
}

std::vector<std::string> Names(const ToolResult<SkillSelection>& result) {
  std::vector<std::string> names;
  if (result.ok()) {
    for (const SkillChoice& choice : result.value->choices) names.push_back(choice.name);
  }
  return names;
}

// One call in every form the parser knows: the same result.
TEST(SelectSkills, EveryFormGivesTheSameSelection) {
  const std::string json =
      R"({"think": "memory bound", "selected_skills": [{"name": "vector-loads", "reason": "wide"}, )"
      R"({"name": "online-softmax", "reason": "one pass"}]})";
  const std::string python =
      "{'think': 'memory bound', 'selected_skills': [{'name': 'vector-loads', 'reason': 'wide'}, "
      "{'name': 'online-softmax', 'reason': 'one pass'},]}";
  const std::string list =
      "[{'name': 'vector-loads', 'reason': 'wide'}, {'name': 'online-softmax', 'reason': 'one "
      "pass'}]";
  const struct {
    Reply reply;
    ToolCallForm form;
  } cases[] = {
      {Calls("select_skills", json), ToolCallForm::kNative},
      {Calls("select_skills", python), ToolCallForm::kNative},
      {Calls("functions.select_skills", nlohmann::json(json).dump()), ToolCallForm::kNative},
      {Says("<tool_call>\n{\"name\": \"select_skills\", \"arguments\": " + json +
            "}\n</tool_call>"),
       ToolCallForm::kHermes},
      {Says("<tool_call>{'name': 'select_skills', 'args': " + python + "}"), ToolCallForm::kHermes},
      {Says("<tool_call>{\"name\": \"select_skills\", \"arguments\": " +
            nlohmann::json(json).dump() + "}</tool_call>"),
       ToolCallForm::kHermes},
      {Says("<tool_call>\n<function=select_skills>\n<parameter=think>\nmemory bound\n</parameter>\n"
            "<parameter=selected_skills>\n" +
            list + "\n</parameter>\n</function>\n</tool_call>"),
       ToolCallForm::kQwenXml},
      {Says("<function=select_skills>" + json + "</function>"), ToolCallForm::kQwenXml},
      {Says("I choose:\n```json\n" + json + "\n```\n"), ToolCallForm::kFenced},
      {Says("```python\n{'name': 'select_skills', 'parameters': " + python + "}\n```"),
       ToolCallForm::kFenced},
      {Says("Skills for {x}: my call is " + json + " as said."), ToolCallForm::kBare},
      {Says("{'tool': {'function': {'name': 'select_skills', 'arguments': " + python + "}}}"),
       ToolCallForm::kBare},
      {Says("<think>\n{\"selected_skills\": []}\n</think>\n" + python), ToolCallForm::kBare},
  };
  for (const auto& [reply, form] : cases) {
    const auto result = Select(reply);
    ASSERT_TRUE(result.ok()) << result.message << "\n" << reply.text;
    EXPECT_EQ(ToolCallFormName(result.form), ToolCallFormName(form)) << reply.text;
    EXPECT_EQ(result.value->think, "memory bound") << reply.text;
    EXPECT_THAT(result.value->choices, ElementsAre(SkillChoice{"vector-loads", "wide"},
                                                   SkillChoice{"online-softmax", "one pass"}))
        << reply.text;
  }
}

TEST(SelectSkills, ListAloneIsASelection) {
  EXPECT_THAT(Names(Select(Says("```\n['vector-loads', 'fuse-epilogue']\n```"))),
              ElementsAre("vector-loads", "fuse-epilogue"));
  EXPECT_THAT(Names(Select(Says("[\"vector-loads\"]"))), ElementsAre("vector-loads"));
}

TEST(SelectSkills, OnlyShownNamesOnceAndUpToTheCap) {
  const auto result = Select(
      Calls("select_skills",
            R"({"selected_skills": ["vector-loads", "made-up", "Vector_Loads", "online softmax",
          "fuse-epilogue", "persistent-grid", ["a", "list"], {"reason": "no name"}]})"));
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(Names(result), ElementsAre("vector-loads", "online-softmax", "fuse-epilogue"));
  EXPECT_THAT(result.value->unknown_names, ElementsAre("made-up", "[\"a\",\"list\"]", ""));
  EXPECT_EQ(result.value->num_duplicates, 1);
  EXPECT_EQ(result.value->num_over_cap, 1);
}

TEST(SelectSkills, AmbiguousNamesAreNotGuessed) {
  const auto result = ParseSelectSkills(Calls("select_skills", R"({"selected_skills": ["A B"]})"),
                                        {"a-b", "a_b"}, 3);
  EXPECT_EQ(result.error, ToolCallError::kNoneShown);
}

TEST(SelectSkills, ChoosingNothingIsAChoice) {
  const auto result = Select(Calls("select_skills", R"({"think": "none", "selected_skills": []})"));
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result.value->choices, IsEmpty());
}

TEST(SelectSkills, SeveralCallsCountAsOne) {
  Reply reply = Calls("select_skills", R"({"selected_skills": ["vector-loads"]})");
  reply.tool_calls.push_back({"2", "select_skills", R"({"selected_skills": ["fuse-epilogue"]})"});
  EXPECT_THAT(Names(Select(reply)), ElementsAre("vector-loads", "fuse-epilogue"));
}

TEST(SelectSkills, TextIsReadWhenTheNativeCallIsBroken) {
  Reply reply = Calls("select_skills", "{\"selected_skills\": [");
  reply.text = "{\"selected_skills\": [\"vector-loads\"]}";
  EXPECT_THAT(Names(Select(reply)), ElementsAre("vector-loads"));
}

TEST(SelectSkills, EveryFailureHasAKindAndAMessage) {
  const struct {
    Reply reply;
    ToolCallError error;
    const char* message;
  } cases[] = {
      {Says(""), ToolCallError::kNoCall, "no call of select_skills"},
      {Says("I would use vector loads."), ToolCallError::kNoCall, "no call"},
      {Says("x = {1: [2]}\n```python\nprint([1])\n```"), ToolCallError::kNoCall, "no call"},
      {Calls("search_web", "{}"), ToolCallError::kWrongTool, "\"search_web\""},
      {Calls("select_skills", "{\"selected_skills\": [}"), ToolCallError::kMalformed, "not valid"},
      {Calls("select_skills", "{\"selected_skills\": [\"a"), ToolCallError::kTruncated, "middle"},
      {Calls("select_skills", "[1]"), ToolCallError::kNoneShown, "None of the 1"},
      {Calls("select_skills", "3"), ToolCallError::kWrongType, "must be an object"},
      {Calls("select_skills", "{}"), ToolCallError::kWrongType, "lack \"selected_skills\""},
      {Calls("select_skills", "{\"selected_skills\": 7}"), ToolCallError::kWrongType, "a list"},
      {Calls("select_skills", "{\"selected_skills\": [\"x\"]}"), ToolCallError::kNoneShown,
       "\"x\""},
      {Says("<tool_call>{\"name\": \"select_skills\", \"argu"), ToolCallError::kTruncated,
       "middle"},
      {Says("<tool_call>hello</tool_call>"), ToolCallError::kMalformed, "not valid"},
      {Says("<function=select_skills><parameter=selected_skills>[\"a"), ToolCallError::kTruncated,
       "middle"},
      {Says("```json\n{\"selected_skills\": [oops]}\n```"), ToolCallError::kMalformed, "not valid"},
      {Says("so I call {\"selected_skills\": [\"a\", \"b"), ToolCallError::kTruncated, "middle"},
      {Says("<think>\n{\"selected_skills\": [\"vector-loads\"]}"), ToolCallError::kNoCall,
       "no call"},
      {Says("Let me", FinishReason::kLength), ToolCallError::kTruncated, "cut at the length limit"},
  };
  for (const auto& [reply, error, message] : cases) {
    const auto result = Select(reply);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(ToolCallErrorName(result.error), ToolCallErrorName(error)) << reply.text;
    EXPECT_THAT(result.message, HasSubstr(message)) << reply.text;
  }
}

TEST(UpdateSkillLibrary, PythonTripleQuotesKeepTheContentVerbatim) {
  const auto result = ParseUpdateSkillLibrary(
      Says("<tool_call>\n<function=update_skill_library>\n<parameter=think>\nIt was the loads.\n"
           "</parameter>\n<parameter=new_skills>\n[{'name': 'wide-loads', 'description': \"it's "
           "fast\", 'scope': 'general', 'tags': ('triton', 'memory', 'loads'), 'content': '''## "
           "Motivation\nx\n## Example\n```python\nx = tl.load(p)\n```\n'''}]\n</parameter>\n"
           "</function>\n</tool_call>"),
      2);
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(result.value->think, "It was the loads.");
  ASSERT_EQ(result.value->skills.size(), 1u);
  const ProposedSkill& skill = result.value->skills[0];
  EXPECT_EQ(skill.name, "wide-loads");
  EXPECT_EQ(skill.description, "it's fast");
  EXPECT_EQ(skill.scope, "general");
  EXPECT_THAT(skill.tags, ElementsAre("triton", "memory", "loads"));
  EXPECT_EQ(skill.content, "## Motivation\nx\n## Example\n```python\nx = tl.load(p)\n```\n");
}

TEST(UpdateSkillLibrary, FencedValueMayHoldFences) {
  const auto result = ParseUpdateSkillLibrary(
      Says("```json\n{\"new_skills\": [{\"name\": \"a\", \"tags\": \"x, y ,z\", \"content\": "
           "\"one\n```python\ncode\n```\ntwo\"}]}\n```\n"),
      2);
  ASSERT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(result.value->skills[0].content, "one\n```python\ncode\n```\ntwo");
  EXPECT_THAT(result.value->skills[0].tags, ElementsAre("x", "y", "z"));
}

TEST(UpdateSkillLibrary, IncompleteRepeatedAndSurplusSkillsAreRejectedWithAReason) {
  const auto result = ParseUpdateSkillLibrary(Calls("update_skill_library", R"({"new_skills": [
        {"name": "a", "content": "1"}, {"content": "2"}, {"name": "b"}, 5,
        {"name": "a", "content": "3"}, {"name": "c", "content": "4"}, {"name": "d", "content": "5"}]})"),
                                              2);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result.value->skills.size(), 2u);
  EXPECT_EQ(result.value->skills[1].name, "c");
  EXPECT_THAT(result.value->rejected,
              ElementsAre(HasSubstr("no name"), HasSubstr("no content"), HasSubstr("not an object"),
                          HasSubstr("repeats"), HasSubstr("more than the 2")));
}

TEST(UpdateSkillLibrary, BytesThatAreNoTextDoNoHarm) {
  const auto result = ParseUpdateSkillLibrary(
      Says("{\"new_skills\": [{\"name\": \"a\xff\", \"content\": \"b\xc3\"}]}"), 2);
  ASSERT_TRUE(result.ok());
  EXPECT_NO_THROW((void)nlohmann::json(result.value->skills[0].content).dump());
}

TEST(ToolSchemas, AreClosedOverWhatTheParserReads) {
  const ToolSpec select = SelectSkillsTool(kShown, 3);
  const auto& items = select.parameters["properties"]["selected_skills"];
  EXPECT_EQ(items["maxItems"], 3);
  EXPECT_EQ(items["items"]["properties"]["name"]["enum"], nlohmann::json(kShown));
  const ToolSpec update = UpdateSkillLibraryTool(2);
  EXPECT_EQ(update.parameters["properties"]["new_skills"]["items"]["required"],
            nlohmann::json({"name", "description", "scope", "tags", "content"}));
}

}  // namespace
}  // namespace davinci::llm
