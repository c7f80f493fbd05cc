// The one estimate of token counts, for backbones without a tokenizer. It is on the high side for
// code, so that what fits by it fits.
#pragma once

#include <cstdint>
#include <string_view>

namespace davinci::llm {

struct Message;
struct Request;

// UTF-8 characters / 3, rounded up: kernels average 3 to 3.5 characters per token with the
// vocabularies in use.
int64_t EstimateTokens(std::string_view text);

// What is counted per message for roles and separators.
inline constexpr int64_t kMessageOverheadTokens = 8;

int64_t EstimateMessageTokens(const Message& message);
// Messages, and the JSON schemas of the tools.
int64_t EstimatePromptTokens(const Request& request);

}  // namespace davinci::llm
