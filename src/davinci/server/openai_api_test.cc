#include "davinci/server/openai_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::server {
namespace {

using testing::HasSubstr;

std::string Chat(const std::string& member) {
  const auto call =
      ParseChat(R"({"messages": [{"role": "user", "content": "hi"}], )" + member + "}");
  return call.ok() ? "" : call.status().message();
}

TEST(OpenAiApi, WhatCannotBeKeptToIsRefusedByName) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"response_format", R"({"type": "json_object"})"},
           {"response_format", R"({"type": "json_schema", "json_schema": {}})"},
           {"response_format", "5"},
           {"tool_choice", R"("required")"},
           {"tool_choice", R"({"type": "function", "function": {"name": "f"}})"},
           {"logit_bias", R"({"5": 1})"},
           {"repetition_penalty", "1.1"},
           {"presence_penalty", "0.5"},
           {"guided_regex", R"(".*")"},
           {"min_tokens", "4"},
           {"modalities", R"(["text", "audio"])"}})
    EXPECT_THAT(Chat("\"" + key + "\": " + value), HasSubstr("\"" + key + "\" is not supported"));
  EXPECT_THAT(Chat(R"("tools": [{"function": {"name": "f"}}], "parallel_tool_calls": false)"),
              HasSubstr("parallel_tool_calls"));
  EXPECT_THAT(ParseCompletion(R"({"prompt": "a", "echo": true})").status().message(),
              HasSubstr("\"echo\" is not supported"));
}

TEST(OpenAiApi, FieldsThatAskForNothingAreAccepted) {
  for (const std::string member :
       {R"("response_format": {"type": "text"})", R"("response_format": null)",
        R"("tool_choice": "auto")", R"("tool_choice": "none")", R"("logit_bias": {})",
        R"("presence_penalty": 0.0)", R"("modalities": ["text"])", R"("guided_json": null)",
        R"("parallel_tool_calls": false)", R"("metadata": {"a": "b"})"})
    EXPECT_EQ(Chat(member), "") << member;
}

}  // namespace
}  // namespace davinci::server
