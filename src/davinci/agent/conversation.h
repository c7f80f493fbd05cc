// The Policy agent's conversation, and what of it fits a context. Pure.
//
// Sizes are tokens as the backbone counts them (llm::Backbone::CountTokens).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/llm/token_count.h"

namespace davinci::agent {

// Tokens of a text; llm::EstimateTokens where nothing better is known.
using TokenCounter = std::function<int64_t(std::string_view)>;

// One finished turn: what the model wrote and what the judge answered.
struct Exchange {
  std::string reply;
  std::string feedback;
};

struct Conversation {
  std::string system;
  std::string task;  // first user message: task, skills, example
  std::vector<Exchange> turns;
};

// With llm::kMessageOverheadTokens for every message.
size_t ConversationTokens(const Conversation& conversation,
                          const TokenCounter& count = llm::EstimateTokens);

// Indices of the turns that stay within `max_tokens`, ascending. System prompt, task and the last
// turn always stay and are never cut at the front; the turns between are dropped oldest first,
// except that `keep_turn` (index of the best so far; -1: none) goes last. When even the last turn
// does not fit beside system and task, its reply is shortened in the middle, down to
// kMinReplyBytes. InvalidArgument, with the sizes, when that is not enough.
inline constexpr size_t kMinReplyBytes = 800;
Result<Conversation> FitConversation(const Conversation& conversation, size_t max_tokens,
                                     int keep_turn = -1,
                                     const TokenCounter& count = llm::EstimateTokens);

}  // namespace davinci::agent
