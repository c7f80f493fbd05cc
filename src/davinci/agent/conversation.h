// The Policy agent's conversation, and what of it fits a context. Pure.
//
// Sizes are estimated tokens (EstimateTokens): agent/ has no tokenizer, and an endpoint's is not
// ours to load. The estimate is on the high side for code, so a budget that fits here fits there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::agent {

// UTF-8 characters / 3, rounded up: kernels average 3 to 3.5 characters per token with the
// vocabularies in use.
size_t EstimateTokens(std::string_view text);

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

// What EstimateTokens counts per message for roles and separators.
inline constexpr size_t kMessageOverheadTokens = 8;
size_t ConversationTokens(const Conversation& conversation);

// Indices of the turns that stay within `max_tokens`, ascending. System prompt, task and the last
// turn always stay and are never cut at the front; the turns between are dropped oldest first,
// except that `keep_turn` (index of the best so far; -1: none) goes last. When even the last turn
// does not fit beside system and task, its reply is shortened in the middle, down to
// kMinReplyBytes. InvalidArgument, with the sizes, when that is not enough.
inline constexpr size_t kMinReplyBytes = 800;
Result<Conversation> FitConversation(const Conversation& conversation, size_t max_tokens,
                                     int keep_turn = -1);

}  // namespace davinci::agent
