#include "davinci/llm/token_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::llm {
namespace {

TokenTrace Sampled() {
  TokenTrace trace;
  trace.prompt_tokens = {1, 151'643, 7};
  trace.output_tokens = {9, 0, 2};
  trace.logprobs = {-0.25F, -1e-30F, -17.5F};
  trace.weights_digest = "w";
  trace.tokenizer_digest = "tok";
  trace.template_digest = "";
  trace.update = int64_t{5} << 33;
  return trace;
}

TEST(TokenTrace, ComesBackFromItsBytesAsItWas) {
  for (const bool bounded : {false, true}) {
    TokenTrace trace = Sampled();
    trace.bounded = bounded;
    const auto bytes = EncodeTrace(trace);
    ASSERT_TRUE(bytes.ok());
    const auto back = DecodeTrace(*bytes);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(*back, trace);
  }
}

TEST(TokenTrace, ATurnThatContinuesAnotherStoresOnlyWhatIsNew) {
  const TokenTrace first = Sampled();
  TokenTrace second = Sampled();
  second.prompt_tokens = AllTokens(first);
  second.prompt_tokens.insert(second.prompt_tokens.end(), 1000, 4);
  EXPECT_TRUE(Continues(second, first));
  const auto whole = EncodeTrace(second);
  const auto rest = EncodeTrace(second, {"name", AllTokens(first).size()});
  EXPECT_EQ(whole->size() + 4 - rest->size(), 4 * AllTokens(first).size());
  EXPECT_EQ(*PrefixOf(*rest), (TracePrefix{"name", 6}));
  EXPECT_EQ(*PrefixOf(*whole), TracePrefix());
  EXPECT_EQ(*DecodeTrace(*rest, AllTokens(first)), second);
  EXPECT_EQ(DecodeTrace(*rest).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(EncodeTrace(first, {"name", 4}).ok());
}

TEST(TokenTrace, AChangedTokenEndsTheContinuation) {
  const TokenTrace first = Sampled();
  TokenTrace second;
  second.prompt_tokens = AllTokens(first);
  EXPECT_TRUE(Continues(second, first));
  second.prompt_tokens[4] = 8;
  EXPECT_FALSE(Continues(second, first));
  second.prompt_tokens = first.prompt_tokens;
  EXPECT_FALSE(Continues(second, first));
}

TEST(TokenTrace, BytesThatAreNoTraceAreRefusedAtEveryLength) {
  const std::string bytes = *EncodeTrace(Sampled());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeTrace(bytes.substr(0, size)).ok()) << size;
  EXPECT_FALSE(DecodeTrace(bytes + "x").ok());
  // A count that promises more than there is.
  std::string hostile = bytes;
  hostile[6] = '\xff';
  hostile[9] = '\x7f';
  EXPECT_FALSE(DecodeTrace(hostile).ok());
}

TEST(TokenTrace, LogprobsAreNoneOrOnePerToken) {
  TokenTrace trace = Sampled();
  trace.logprobs.pop_back();
  EXPECT_FALSE(EncodeTrace(trace).ok());
  trace.logprobs.clear();
  EXPECT_EQ(*DecodeTrace(*EncodeTrace(trace)), trace);
}

}  // namespace
}  // namespace davinci::llm
