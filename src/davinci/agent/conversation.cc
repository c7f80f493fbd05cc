#include "davinci/agent/conversation.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/utf8.h"
#include "davinci/data/evaluation.h"

namespace davinci::agent {
namespace {

size_t MessageTokens(std::string_view text) {
  return EstimateTokens(text) + kMessageOverheadTokens;
}
size_t ExchangeTokens(const Exchange& turn) {
  return MessageTokens(turn.reply) + MessageTokens(turn.feedback);
}
size_t HeadTokens(const Conversation& conversation) {
  return MessageTokens(conversation.system) + MessageTokens(conversation.task);
}

}  // namespace

size_t EstimateTokens(std::string_view text) {
  // Bytes that begin a character: continuation bytes of UTF-8 are 10xxxxxx.
  const auto characters = static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  return (characters + 2) / 3;
}

size_t ConversationTokens(const Conversation& conversation) {
  size_t total = HeadTokens(conversation);
  for (const Exchange& turn : conversation.turns) total += ExchangeTokens(turn);
  return total;
}

Result<Conversation> FitConversation(const Conversation& conversation, size_t max_tokens,
                                     int keep_turn) {
  Conversation fitted = conversation;
  const size_t head = HeadTokens(conversation);
  size_t total = ConversationTokens(conversation);
  std::vector<bool> dropped(conversation.turns.size(), false);
  const auto drop = [&](size_t turn) {
    if (total <= max_tokens || dropped[turn]) return;
    dropped[turn] = true;
    total -= ExchangeTokens(conversation.turns[turn]);
  };
  for (size_t i = 0; i + 1 < conversation.turns.size(); ++i)
    if (static_cast<int>(i) != keep_turn) drop(i);
  if (keep_turn >= 0 && keep_turn + 1 < static_cast<int>(conversation.turns.size()))
    drop(static_cast<size_t>(keep_turn));

  fitted.turns.clear();
  for (size_t i = 0; i < conversation.turns.size(); ++i)
    if (!dropped[i]) fitted.turns.push_back(conversation.turns[i]);
  if (total <= max_tokens) return fitted;

  const auto too_long = [&] {
    return InvalidArgument(
        fmt::format("the conversation does not fit {} tokens: system prompt and task alone are "
                    "about {}, with the last turn {}; give the model a longer context or shorten "
                    "the prompts",
                    max_tokens, head, total));
  };
  if (fitted.turns.empty()) return too_long();
  std::string& reply = fitted.turns.back().reply;
  // Three bytes are at most one token of the estimate.
  const size_t excess_bytes = 3 * (total - max_tokens);
  if (reply.size() < excess_bytes + kMinReplyBytes) return too_long();
  reply = ElideMiddle(reply, reply.size() - excess_bytes);
  if (ConversationTokens(fitted) > max_tokens) return too_long();
  return fitted;
}

}  // namespace davinci::agent
