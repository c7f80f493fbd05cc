#include "davinci/skill/minhash.h"

#include <gtest/gtest.h>

#include "davinci/base/rng.h"

namespace davinci::skill {
namespace {

std::string Words(SplitMix64* random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word" + std::to_string(random->Below(5000)) + " ";
  return text;
}

TEST(MinHash, SimilarityIsTheShareOfCommonShingles) {
  // Shingles: abc bcd cde / abc bcd cdx: 2 of 4 in common.
  EXPECT_DOUBLE_EQ(Jaccard(Shingles("aa bb cc dd ee"), Shingles("aa bb cc dd xx")), 0.5);
  EXPECT_DOUBLE_EQ(Jaccard(Shingles("aa bb cc"), Shingles("AA, bb;\ncc.")), 1.0);
  EXPECT_DOUBLE_EQ(Jaccard(Shingles("aa bb cc"), Shingles("cc bb aa")), 0.0);
  EXPECT_DOUBLE_EQ(Jaccard({}, {}), 1.0);
  EXPECT_DOUBLE_EQ(Jaccard(Shingles("aa"), {}), 0.0);
}

TEST(MinHash, FindsEveryNearDuplicateAmongStrangers) {
  SplitMix64 random(3);
  NearDuplicateIndex index;
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) {
    texts.push_back(Words(&random, 120));
    index.Add("s" + std::to_string(i), texts.back());
  }
  for (int i = 0; i < 300; ++i) {
    // Words appended: similarity 118 / (118 + 30).
    const auto match = index.Nearest(texts[static_cast<size_t>(i)] + Words(&random, 30), 0.7);
    EXPECT_EQ(match.name, "s" + std::to_string(i));
    EXPECT_GT(match.similarity, 0.75);
  }
  EXPECT_EQ(index.Nearest(Words(&random, 120), 0.7).name, "");
}

TEST(MinHash, ThresholdIsExact) {
  NearDuplicateIndex index;
  index.Add("a", "aa bb cc dd ee ff gg hh ii jj kk ll");  // 10 shingles
  // 9 of 11 in common.
  const std::string near = "aa bb cc dd ee ff gg hh ii jj kk xx";
  EXPECT_EQ(index.Nearest(near, 9.0 / 11).name, "a");
  EXPECT_EQ(index.Nearest(near, 9.0 / 11 + 1e-9).name, "");
}

TEST(MinHash, RemovedAndReplacedTextsAreForgotten) {
  NearDuplicateIndex index;
  index.Add("a", "one two three four");
  index.Add("b", "one two three four");
  EXPECT_EQ(index.Nearest("one two three four", 0.9).name, "a");  // ties go by name
  EXPECT_EQ(index.Nearest("one two three four", 0.9, "a").name, "b");
  index.Remove("a");
  EXPECT_EQ(index.Nearest("one two three four", 0.9).name, "b");
  index.Add("b", "something else entirely");
  EXPECT_EQ(index.Nearest("one two three four", 0.9).name, "");
  EXPECT_EQ(index.size(), 1u);
}

}  // namespace
}  // namespace davinci::skill
