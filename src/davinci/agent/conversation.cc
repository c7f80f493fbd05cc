#include "davinci/agent/conversation.h"

#include <fmt/format.h>

#include "davinci/base/utf8.h"
#include "davinci/data/evaluation.h"

namespace davinci::agent {
namespace {

size_t MessageTokens(std::string_view text, const TokenCounter& count) {
  return static_cast<size_t>(count(text) + llm::kMessageOverheadTokens);
}
size_t ExchangeTokens(const Exchange& turn, const TokenCounter& count) {
  return MessageTokens(turn.reply, count) + MessageTokens(turn.feedback, count);
}
size_t HeadTokens(const Conversation& conversation, const TokenCounter& count) {
  return MessageTokens(conversation.system, count) + MessageTokens(conversation.task, count);
}

}  // namespace

size_t ConversationTokens(const Conversation& conversation, const TokenCounter& count) {
  size_t total = HeadTokens(conversation, count);
  for (const Exchange& turn : conversation.turns) total += ExchangeTokens(turn, count);
  return total;
}

Result<Conversation> FitConversation(const Conversation& conversation, size_t max_tokens,
                                     int keep_turn, const TokenCounter& count) {
  Conversation fitted = conversation;
  const size_t head = HeadTokens(conversation, count);
  size_t total = ConversationTokens(conversation, count);
  std::vector<bool> dropped(conversation.turns.size(), false);
  const auto drop = [&](size_t turn) {
    if (total <= max_tokens || dropped[turn]) return;
    dropped[turn] = true;
    total -= ExchangeTokens(conversation.turns[turn], count);
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
  const std::string reply = fitted.turns.back().reply;
  // Three bytes of a reply at a time and token: at least one token of the estimate. Tokenizers that
  // put more bytes into a token need further rounds.
  size_t cut_bytes = 0;
  while (total > max_tokens) {
    cut_bytes += 3 * (total - max_tokens);
    if (reply.size() < cut_bytes + kMinReplyBytes) return too_long();
    fitted.turns.back().reply = ElideMiddle(reply, reply.size() - cut_bytes);
    total = ConversationTokens(fitted, count);
  }
  return fitted;
}

}  // namespace davinci::agent
