#include "davinci/text/bpe_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Pairs: a b 5, b c 3, c d 2. "ab" leaves ab c 3, "abc" leaves abc d 1 and c d 2.
TEST(BpeTrainer, MergesTheMostFrequentPairFirst) {
  const WordCount words[] = {{"ab", 2}, {"abc", 2}, {"abcd", 1}, {"cd", 1}};
  TokenizerDefinition made;
  ASSERT_TRUE(TrainBpe(words, {.vocab_size = 257 + 3, .specials = {"<e>"}}, &made).ok());
  EXPECT_THAT(made.merges, ElementsAre(Pair("a", "b"), Pair("ab", "c"), Pair("c", "d")));
  EXPECT_EQ(made.tokens.size(), 260U);
  EXPECT_EQ(made.tokens[0], "<e>");
  EXPECT_EQ(made.tokens[1], "!");
  EXPECT_EQ(made.tokens[258], "abc");
  EXPECT_TRUE(made.added[0].special);
}

// The pair with the smaller ids wins among equal counts: "x" is before "y" in the alphabet.
TEST(BpeTrainer, BreaksTiesByIdsAndStopsWithoutPairs) {
  const WordCount words[] = {{"yz", 1}, {"xz", 1}};
  TokenizerDefinition made;
  ASSERT_TRUE(TrainBpe(words, {.vocab_size = 300, .specials = {}}, &made).ok());
  EXPECT_THAT(made.merges, ElementsAre(Pair("x", "z"), Pair("y", "z")));
}

// "aa" "aa" "a": the pairs that "aa" begins are equally frequent.
TEST(BpeTrainer, MergesARunOfOneLetterFromTheLeft) {
  const WordCount words[] = {{"aaaaa", 1}};
  TokenizerDefinition made;
  ASSERT_TRUE(TrainBpe(words, {.vocab_size = 258, .specials = {}}, &made).ok());
  EXPECT_THAT(made.merges, ElementsAre(Pair("a", "a"), Pair("aa", "a")));
}

TEST(BpeTrainer, RefusesAVocabularyWithoutRoomForTheBytes) {
  TokenizerDefinition made;
  EXPECT_THAT(TrainBpe({}, {.vocab_size = 256, .specials = {"<e>"}}, &made).message(),
              HasSubstr("257"));
}

}  // namespace
}  // namespace davinci::text
