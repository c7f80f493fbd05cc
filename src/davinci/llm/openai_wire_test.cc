// The wire format and server-sent events, without a connection.
#include "davinci/llm/openai_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/llm/sse.h"
#include "davinci/llm/tools.h"

namespace davinci::llm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

TEST(SseParser, AnySplitOfTheBytesGivesTheSameEvents) {
  const std::string stream =
      ": hello\r\ndata: one\r\n\r\nevent: x\ndata: two\ndata:three\n\n\n\rdata\r\rdatum: no\n\n";
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    SseParser parser;
    std::vector<std::string> events;
    for (size_t at = 0; at < stream.size(); at += piece) {
      for (std::string& event : parser.Feed(std::string_view(stream).substr(at, piece)))
        events.push_back(std::move(event));
    }
    EXPECT_THAT(events, ElementsAre("one", "two\nthree", "")) << piece;
  }
}

TEST(SseParser, EventWithoutItsBlankLineCountsHalfALineDoesNot) {
  SseParser parser;
  EXPECT_THAT(parser.Feed("data: a\ndata: b"), ElementsAre());
  EXPECT_THAT(parser.Finish(), ElementsAre("a"));
}

Request Ask() {
  Request request;
  request.messages = {{Role::kUser, "hi", {}, {}}};
  request.tools = {SelectSkillsTool({"a"}, 1)};
  request.required_tool = "select_skills";
  request.temperature = 0.5;
  request.top_p = 0.9;
  request.top_k = 40;
  request.min_p = 0.05;
  request.thinking = false;
  request.max_tokens = 100;
  request.seed = 3;
  request.stop = {"END"};
  request.logprobs = true;
  request.label = "secret/label";
  return request;
}

TEST(RequestBody, HoldsWhatWasAskedAndNotTheLabel) {
  const Json body = RequestBody(Ask(), "m", 2, true, {});
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["n"], 2);
  EXPECT_EQ(body["seed"], 3);
  EXPECT_EQ(body["stop"], Json({"END"}));
  EXPECT_EQ(body["top_k"], 40);
  EXPECT_EQ(body["min_p"], 0.05);
  EXPECT_EQ(body["chat_template_kwargs"]["enable_thinking"], false);
  EXPECT_EQ(body["logprobs"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["tool_choice"]["function"]["name"], "select_skills");
  EXPECT_EQ(body["tools"][0]["function"]["name"], "select_skills");
  EXPECT_THAT(body.dump(), testing::Not(HasSubstr("label")));
}

TEST(AdaptTo, SamplingOfLocalServersIsLeftOutWhereItIsRefused) {
  Dialect dialect;
  const Json body = RequestBody(Ask(), "m", 1, true, dialect);
  for (const char* field : {"top_k", "min_p", "chat_template_kwargs"}) {
    EndpointError error;
    error.message = std::string("Unrecognized request argument supplied: ") + field;
    EXPECT_TRUE(AdaptTo(error, body, &dialect)) << field;
  }
  const Json plain = RequestBody(Ask(), "m", 1, true, dialect);
  EXPECT_FALSE(plain.contains("top_k") || plain.contains("min_p") ||
               plain.contains("chat_template_kwargs"));
  EXPECT_TRUE(plain.contains("top_p"));
}

TEST(RequestBody, WithoutNativeToolsTheyAreDescribed) {
  Dialect dialect;
  dialect.native_tools = false;
  const Json body = RequestBody(Ask(), "m", 1, false, dialect);
  EXPECT_FALSE(body.contains("tools"));
  EXPECT_FALSE(body.contains("tool_choice"));
  EXPECT_EQ(body["messages"][0]["role"], "system");
  const auto text = body["messages"][0]["content"].get<std::string>();
  EXPECT_THAT(text, HasSubstr("<tool_call>"));
  EXPECT_THAT(text, HasSubstr("\"select_skills\""));
  EXPECT_THAT(text, HasSubstr("must call select_skills"));
}

TEST(AdaptTo, StrikesTheFieldThatIsRefused) {
  const Json body = RequestBody(Ask(), "m", 2, true, {});
  const struct {
    const char* message;
    bool Dialect::*flag;
    bool value;
  } cases[] = {
      {"Unsupported parameter: 'max_tokens' is not supported with this model. Use "
       "'max_completion_tokens' instead.",
       &Dialect::max_completion_tokens, true},
      {"Unsupported value: 'temperature' does not support 0.5 with this model. Only the default "
       "(1) "
       "value is supported.",
       &Dialect::temperature, false},
      {"stream_options: Extra inputs are not permitted", &Dialect::stream_options, false},
      {"logprobs are not supported", &Dialect::logprobs, false},
      {"Unrecognized request argument supplied: seed", &Dialect::seed, false},
      {"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
       &Dialect::native_tools, false},
      {"tools param requires --jinja flag", &Dialect::native_tools, false},
      {"`temperature` is deprecated for this model.", &Dialect::temperature, false},
      {"litellm.UnsupportedParamsError: openai does not support parameters: ['top_p'], for "
       "model=x. To drop these, set `litellm.drop_params=True`",
       &Dialect::top_p, false},
      {"Unsupported value: 'stream' does not support true with this model.", &Dialect::stream,
       false},
      {"this model does not support 'n' > 1", &Dialect::n, false}};
  for (const auto& [message, flag, value] : cases) {
    Dialect dialect;
    EXPECT_TRUE(AdaptTo({message, "", "", ""}, body, &dialect).has_value()) << message;
    EXPECT_EQ(dialect.*flag, value) << message;
  }
  Dialect dialect;
  EXPECT_FALSE(AdaptTo({"This model's maximum context length is 4096 tokens; max_tokens is 100",
                        "context_length_exceeded", "", ""},
                       body, &dialect));
  EXPECT_FALSE(AdaptTo({"temperature must be at most 2", "", "", "temperature"}, body, &dialect));
}

TEST(AdaptTo, TemperatureOrTopPWhereBothAreRefused) {
  for (const char* message :
       {"`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        "litellm.BadRequestError: BedrockException - {\"message\": \"The model returned the "
        "following errors: temperature and top_p cannot both be set\"}",
        "Specify either temperature or top_p", "top_p and temperature are mutually exclusive"}) {
    Dialect dialect;
    const Json body = RequestBody(Ask(), "m", 1, true, dialect);
    EXPECT_TRUE(AdaptTo({message, "", "", ""}, body, &dialect)) << message;
    const Json next = RequestBody(Ask(), "m", 1, true, dialect);
    EXPECT_TRUE(next.contains("temperature")) << message;
    EXPECT_FALSE(next.contains("top_p")) << message;
  }
}

TEST(AdaptTo, SystemTextMovesToTheUserWhereTheRoleIsRefused) {
  Request request = Ask();
  request.messages = {{Role::kSystem, "be brief", {}, {}},
                      {Role::kUser, "hello", {}, {}},
                      {Role::kAssistant, "hi", {}, {}},
                      {Role::kUser, "more", {}, {}}};
  for (const char* message :
       {"System role not supported", "Only user and assistant roles are supported!",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Developer instruction is not enabled for models/small",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "litellm.BadRequestError: {\"error\": \"This model doesn't support the system field\"}"}) {
    Dialect dialect;
    const Json body = RequestBody(request, "m", 1, true, dialect);
    EXPECT_TRUE(AdaptTo({message, "", "", ""}, body, &dialect)) << message;
    const Json messages = RequestBody(request, "m", 1, true, dialect)["messages"];
    ASSERT_EQ(messages.size(), 3u) << message;
    EXPECT_EQ(messages[0].dump(), R"({"content":"be brief\n\nhello","role":"user"})");
    EXPECT_EQ(messages[2]["content"], "more");
    EXPECT_FALSE(AdaptTo({message, "", "", ""}, {{"messages", messages}}, &dialect)) << message;
  }
  Dialect dialect;
  const Json body = RequestBody(request, "m", 1, true, dialect);
  EXPECT_FALSE(AdaptTo({"the system is overloaded", "", "", ""}, body, &dialect));
  request.messages = {{Role::kSystem, "alone", {}, {}}};
  dialect.system_role = false;
  EXPECT_EQ(RequestBody(request, "m", 1, true, dialect)["messages"].dump(),
            R"([{"content":"alone","role":"user"}])");
}

Result<std::vector<Reply>> Assemble(const std::vector<std::string>& chunks, int n = 1,
                                    bool done = true) {
  ReplyAssembler assembler(n);
  for (const std::string& chunk : chunks) DAVINCI_RETURN_IF_ERROR(assembler.AddChunk(chunk));
  if (done) assembler.End();
  return assembler.Finish(Ask());
}

TEST(ReplyAssembler, JoinsStreamedFragments) {
  const auto replies = Assemble(
      {R"({"model": "m-1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})",
       R"({"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]})",
       R"({"choices": [{"index": 0, "delta": {"content": "Hel"},
           "logprobs": {"content": [{"token": "Hel", "logprob": -0.5, "top_logprobs": []}]}}]})",
       R"({"choices": [{"index": 0, "delta": {"content": "lo"},
           "logprobs": {"content": [{"token": "lo", "logprob": -0.25}]}}]})",
       R"({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})",
       R"({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2,
           "prompt_tokens_details": {"cached_tokens": 4}}})"});
  ASSERT_TRUE(replies.ok()) << replies.status().message();
  const Reply& reply = replies->front();
  EXPECT_EQ(reply.text, "Hello");
  EXPECT_EQ(reply.reasoning, "hm");
  EXPECT_EQ(reply.model, "m-1");
  EXPECT_EQ(reply.finish_reason, FinishReason::kLength);
  EXPECT_EQ(reply.usage, (Usage{9, 4, 2, false}));
  EXPECT_THAT(*reply.token_logprobs,
              ElementsAre(TokenLogprob{"Hel", -0.5}, TokenLogprob{"lo", -0.25}));
}

TEST(ReplyAssembler, JoinsArgumentsOfToolCallsByIndex) {
  const auto replies = Assemble(
      {R"({"choices": [{"delta": {"tool_calls": [
           {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]}}]})",
       R"({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{\"x\""}}]}}]})",
       R"({"choices": [{"delta": {"tool_calls": [
           {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}]}}]})",
       R"({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}}]})",
       R"({"choices": [{"delta": {"tool_calls": [{"index": 1, "function": {"arguments": "}"}}]},
           "finish_reason": "tool_calls"}]})"});
  ASSERT_TRUE(replies.ok());
  EXPECT_THAT(replies->front().tool_calls,
              ElementsAre(ToolCall{"a", "f", "{\"x\": 1}"}, ToolCall{"b", "g", "{}"}));
}

TEST(ReplyAssembler, ToolCallsWithoutIndexBeginWithTheirName) {
  const auto replies = Assemble(
      {R"({"choices": [{"delta": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]}}]})",
       R"({"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "}"}}]}}]})",
       R"({"choices": [{"delta": {"tool_calls": [{"function": {"name": "g", "arguments": {"y": 2}}}]},
           "finish_reason": "stop"}]})"});
  ASSERT_TRUE(replies.ok());
  EXPECT_THAT(replies->front().tool_calls,
              ElementsAre(ToolCall{"a", "f", "{}"}, ToolCall{"", "g", "{\"y\":2}"}));
}

TEST(ReplyAssembler, SeveralChoicesShareTheUsage) {
  const auto replies = Assemble(
      {R"({"choices": [{"index": 1, "delta": {"content": "bbbb"}, "finish_reason": "stop"}]})",
       R"({"choices": [{"index": 0, "delta": {"content": "aaaaaaaaaaaa"}, "finish_reason": "stop"}]})",
       R"({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 8}})"},
      2);
  ASSERT_TRUE(replies.ok());
  ASSERT_EQ(replies->size(), 2u);
  EXPECT_EQ((*replies)[0].usage, (Usage{10, 0, 6, false}));
  EXPECT_EQ((*replies)[1].usage, (Usage{0, 0, 2, false}));
}

TEST(ReplyAssembler, UnreportedUsageIsEstimatedAndSaysSo) {
  const auto replies = Assemble(
      {R"({"choices": [{"delta": {"content": "twelve bytes"}, "finish_reason": "stop"}]})"});
  ASSERT_TRUE(replies.ok());
  EXPECT_TRUE(replies->front().usage.estimated);
  EXPECT_EQ(replies->front().usage.completion_tokens, 4);
  EXPECT_GT(replies->front().usage.prompt_tokens, 0);
}

TEST(ReplyAssembler, StreamsThatEndEarlyAreErrors) {
  const std::string part = R"({"choices": [{"delta": {"content": "half"}}]})";
  EXPECT_THAT(Assemble({part}, 1, false).status().message(),
              HasSubstr("before the reply was complete"));
  EXPECT_THAT(Assemble({}, 1, true).status().message(), HasSubstr("before the reply began"));
  EXPECT_TRUE(Assemble({part}, 1, true).ok());  // [DONE] without a reason: all of it came
}

TEST(ReplyAssembler, GarbageIsAnErrorNeverAnException) {
  for (const char* chunk :
       {"", "nonsense", "[]", "3", "{\"choices\": 1}", "{\"choices\": [1]}",
        "{\"choices\": [{\"delta\": 3}]}", "{\"choices\": [{\"delta\": {\"content\": 3}}]}",
        "{\"choices\": [{\"delta\": {\"tool_calls\": 1}}]}",
        "{\"choices\": [{\"delta\": {\"tool_calls\": [1]}}]}",
        "{\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 99999999}]}}]}",
        "{\"x\": \"\xff\"}"}) {
    EXPECT_FALSE(Assemble({chunk}).ok()) << chunk;
  }
  ReplyAssembler assembler(1);
  EXPECT_FALSE(assembler.AddDocument("{}").ok());
}

TEST(ParseEndpointError, ReadsTheShapesInUse) {
  EXPECT_EQ(ParseEndpointError(R"({"error": {"message": "m", "code": 400, "param": "p"}})").code,
            "400");
  EXPECT_EQ(ParseEndpointError(R"({"error": "text"})").message, "text");
  EXPECT_EQ(ParseEndpointError(R"({"object": "error", "message": "m", "type": "T"})").type, "T");
  EXPECT_THAT(ParseEndpointError(R"({"detail": [{"loc": ["body", "seed"]}]})").message,
              HasSubstr("seed"));
  EXPECT_EQ(ParseEndpointError("<html>Bad gateway</html>").message, "<html>Bad gateway</html>");
}

}  // namespace
}  // namespace davinci::llm
