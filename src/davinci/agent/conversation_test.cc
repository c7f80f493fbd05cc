#include "davinci/agent/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::agent {
namespace {

using ::testing::HasSubstr;

// `turns` turns of 300 characters each way: 2 * (100 + 8) tokens.
Conversation Talk(int turns) {
  Conversation conversation{std::string(300, 's'), std::string(300, 't'), {}};
  for (int i = 0; i < turns; ++i)
    conversation.turns.push_back({std::string(300, static_cast<char>('1' + i)),
                                  std::string(300, static_cast<char>('a' + i))});
  return conversation;
}
constexpr size_t kHead = 216;
constexpr size_t kTurn = 216;

std::string Turns(const Conversation& conversation) {
  std::string first_letters;
  for (const Exchange& turn : conversation.turns) first_letters += turn.reply[0];
  return first_letters;
}

TEST(FitConversation, LeavesAloneWhatFits) {
  const auto fitted = FitConversation(Talk(3), kHead + 3 * kTurn);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(Turns(*fitted), "123");
}

TEST(FitConversation, DropsTheOldestTurnsFirst) {
  EXPECT_EQ(Turns(*FitConversation(Talk(4), kHead + 3 * kTurn)), "234");
  EXPECT_EQ(Turns(*FitConversation(Talk(4), kHead + kTurn)), "4");
}

TEST(FitConversation, TheBestTurnGoesLast) {
  EXPECT_EQ(Turns(*FitConversation(Talk(4), kHead + 2 * kTurn, 0)), "14");
  EXPECT_EQ(Turns(*FitConversation(Talk(4), kHead + kTurn, 0)), "4");
  EXPECT_EQ(Turns(*FitConversation(Talk(4), kHead + 2 * kTurn, 3)), "34");  // is the last one
}

TEST(FitConversation, ShortensTheLastReplyInTheMiddleWhenNothingElseIsLeft) {
  Conversation conversation = Talk(2);
  conversation.turns[1].reply = "begin" + std::string(6000, '.') + "end";
  const size_t budget = kHead + 800;
  const auto fitted = FitConversation(conversation, budget);
  ASSERT_TRUE(fitted.ok()) << fitted.status().ToString();
  ASSERT_EQ(fitted->turns.size(), 1u);
  EXPECT_TRUE(fitted->turns[0].reply.starts_with("begin"));
  EXPECT_TRUE(fitted->turns[0].reply.ends_with("end"));
  EXPECT_LE(ConversationTokens(*fitted), budget);
  EXPECT_EQ(fitted->system, conversation.system);
  EXPECT_EQ(fitted->task, conversation.task);
}

TEST(FitConversation, CountsAsTheBackboneDoes) {
  const TokenCounter by_five = [](std::string_view text) {
    return static_cast<int64_t>((text.size() + 4) / 5);
  };
  constexpr size_t kMessage = 300 / 5 + 8;
  EXPECT_EQ(ConversationTokens(Talk(4), by_five), 10 * kMessage);
  EXPECT_EQ(Turns(*FitConversation(Talk(4), 6 * kMessage, -1, by_five)), "34");
  // Shortened until it fits by this count, which takes five bytes per token.
  Conversation conversation = Talk(1);
  conversation.turns[0].reply = std::string(6000, '.');
  const auto fitted = FitConversation(conversation, 3 * kMessage + 408, -1, by_five);
  ASSERT_TRUE(fitted.ok()) << fitted.status().ToString();
  EXPECT_LE(ConversationTokens(*fitted, by_five), 3 * kMessage + 408);
  EXPECT_GT(fitted->turns[0].reply.size(), 1900u);
}

TEST(FitConversation, NeverCutsSystemPromptOrTask) {
  const auto fitted = FitConversation(Talk(0), kHead - 1);
  ASSERT_FALSE(fitted.ok());
  EXPECT_EQ(fitted.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(fitted.status().message(), HasSubstr("about 216"));
  EXPECT_FALSE(FitConversation(Talk(2), kHead + 10).ok());
}

}  // namespace
}  // namespace davinci::agent
