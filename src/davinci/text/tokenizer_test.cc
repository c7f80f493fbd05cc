#include "davinci/text/tokenizer.h"

#include <gtest/gtest.h>

#include "davinci/text/byte_alphabet.h"
#include "davinci/text/incremental_decoder.h"
#include "davinci/text/pre_tokenizer.h"

namespace davinci::text {
namespace {

TokenizerDefinition Bytes() {
  TokenizerDefinition definition;
  for (int b = 0; b < 256; ++b) {
    const char c = static_cast<char>(b);
    definition.tokens.push_back(ToByteAlphabet({&c, 1}));
  }
  definition.patterns = {std::string(kQwen2Pattern)};
  return definition;
}

TokenizerDefinition WithMerges() {
  TokenizerDefinition definition = Bytes();
  for (const auto& [left, right] : {std::pair("i", "n"), {"in", "t"}, {"n", "t"}}) {
    definition.merges.emplace_back(left, right);
    definition.tokens.push_back(std::string(left) + right);
  }
  definition.added = {{259, "<|end|>", true}};
  return definition;
}

TEST(Tokenizer, TheBestMergeComesFirst) {
  const auto tokenizer = Tokenizer::FromDefinition(WithMerges());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  EXPECT_EQ(*tokenizer->Encode("int"), (std::vector<int32_t>{257}));
  EXPECT_EQ(*tokenizer->Encode("nt"), (std::vector<int32_t>{258}));
  EXPECT_EQ(*tokenizer->Encode("intint"), (std::vector<int32_t>{257, 257}));
}

TEST(Tokenizer, TextOfSpecialTokensIsOnlyParsedWhenAsked) {
  const auto tokenizer = Tokenizer::FromDefinition(WithMerges());
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(*tokenizer->Encode("a<|end|>"), (std::vector<int32_t>{'a', 259}));
  EXPECT_EQ(tokenizer->Encode("<|end|>", {.parse_special = false})->size(), 7U);
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{'a', 259}, true), "a");
}

TEST(Tokenizer, InconsistentTablesAreRefused) {
  const auto error = [](auto change) {
    TokenizerDefinition definition = WithMerges();
    change(&definition);
    return Tokenizer::FromDefinition(std::move(definition)).status().message();
  };
  EXPECT_EQ(error([](auto*) {}), "");
  EXPECT_NE(error([](auto* d) { d->merges.emplace_back("q", "q"); }), "");    // "qq" is no token
  EXPECT_NE(error([](auto* d) { d->merges.emplace_back("qq", "q"); }), "");   // nor is its half
  EXPECT_NE(error([](auto* d) { d->tokens[65].clear(); }), "");               // no token for 'A'
  EXPECT_NE(error([](auto* d) { d->added.push_back({1 << 30, "x"}); }), "");  // far above
  EXPECT_NE(error([](auto* d) { d->prefix = {100000}; }), "");
  EXPECT_NE(error([](auto* d) { d->patterns = {"(?<name>a)"}; }), "");
}

TEST(IncrementalDecoder, HoldsBackHalfACharacterAndReplacesItAtTheEnd) {
  const auto tokenizer = Tokenizer::FromDefinition(Bytes());
  ASSERT_TRUE(tokenizer.ok());
  IncrementalDecoder decoder(*tokenizer);
  EXPECT_EQ(decoder.Push('a'), "a");
  EXPECT_EQ(decoder.Push(0xe4), "");
  EXPECT_EQ(decoder.Push(0xb8), "");
  EXPECT_EQ(decoder.pending_bytes(), 2U);
  EXPECT_EQ(decoder.Push(0xad), "\xE4\xB8\xAD");
  EXPECT_EQ(decoder.Push(0xf0), "");
  EXPECT_EQ(decoder.Push('b'),
            "\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(decoder.Push(0xf0), "");
  EXPECT_EQ(decoder.Finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(decoder.Finish(), "");
}

TEST(PreTokenizer, APatternThatCannotEndIsAnErrorOfTheText) {
  auto patterns = PreTokenizer::Make({R"((?:(?:\p{L}+)+)+\p{N}{9})"});
  ASSERT_TRUE(patterns.ok()) << patterns.status().ToString();
  std::vector<std::string_view> pieces;
  EXPECT_FALSE(patterns->Split(std::string(200, 'a') + "!", &pieces).ok());
}

}  // namespace
}  // namespace davinci::text
