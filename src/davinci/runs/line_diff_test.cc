#include "davinci/runs/line_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::runs {
namespace {

TEST(LineDiff, EqualTextsHaveNone) { EXPECT_EQ(LineDiff("a\nb\n", "a\nb\n"), ""); }

TEST(LineDiff, ChangesStandWithTheirSurroundings) {
  EXPECT_EQ(LineDiff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", 1),
            "@@ line 3 -> 3 @@\n c\n-d\n+D\n e\n");
}

TEST(LineDiff, DistantChangesAreApart) {
  EXPECT_EQ(LineDiff("1\n2\n3\n4\n5\n6\n7\n", "x\n2\n3\n4\n5\n6\ny\n", 0),
            "@@ line 1 -> 1 @@\n-1\n+x\n@@ line 7 -> 7 @@\n-7\n+y\n");
}

TEST(LineDiff, FromNothing) { EXPECT_EQ(LineDiff("", "a\n"), "@@ line 1 -> 1 @@\n+a\n"); }

TEST(LineDiff, LongOnesAreCut) {
  std::string after;
  for (int i = 0; i < 50; ++i) after += "line\n";
  const std::string diff = LineDiff("", after, 2, 10);
  EXPECT_THAT(diff, ::testing::HasSubstr("40 more lines"));
}

}  // namespace
}  // namespace davinci::runs
