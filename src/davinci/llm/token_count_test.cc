#include "davinci/llm/token_count.h"

#include <gtest/gtest.h>

#include "davinci/llm/backbone.h"

namespace davinci::llm {
namespace {

TEST(EstimateTokens, CountsCharactersNotBytes) {
  EXPECT_EQ(EstimateTokens(""), 0);
  EXPECT_EQ(EstimateTokens("abcd"), 2);
  EXPECT_EQ(EstimateTokens("üüü"), 1);
}

TEST(EstimatePromptTokens, SumsMessagesAndTools) {
  Request request;
  request.messages.push_back({Role::kSystem, "abc", {}, ""});
  request.messages.push_back({Role::kUser, "abcdef", {}, ""});
  EXPECT_EQ(EstimatePromptTokens(request), 1 + 2 + 2 * kMessageOverheadTokens);
  request.tools.push_back({"abc", "def", nlohmann::json::object()});
  EXPECT_EQ(EstimatePromptTokens(request), 1 + 2 + 1 + 1 + 1 + 3 * kMessageOverheadTokens);
}

}  // namespace
}  // namespace davinci::llm
