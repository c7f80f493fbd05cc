#include "davinci/llm/token_count.h"

#include <algorithm>

#include "davinci/base/json_text.h"
#include "davinci/llm/request.h"

namespace davinci::llm {

int64_t EstimateTokens(std::string_view text) {
  // Bytes that begin a character: continuation bytes of UTF-8 are 10xxxxxx.
  const int64_t characters = std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return (characters + 2) / 3;
}

int64_t EstimateMessageTokens(const Message& message) {
  int64_t tokens = EstimateTokens(message.content) + kMessageOverheadTokens;
  for (const ToolCall& call : message.tool_calls)
    tokens += EstimateTokens(call.name) + EstimateTokens(call.arguments);
  return tokens;
}

int64_t EstimatePromptTokens(const Request& request) {
  int64_t tokens = 0;
  for (const Message& message : request.messages) tokens += EstimateMessageTokens(message);
  for (const ToolSpec& tool : request.tools) {
    tokens += EstimateTokens(tool.name) + EstimateTokens(tool.description) +
              EstimateTokens(JsonText(tool.parameters)) + kMessageOverheadTokens;
  }
  return tokens;
}

}  // namespace davinci::llm
