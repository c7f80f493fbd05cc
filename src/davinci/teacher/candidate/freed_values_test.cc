#include "davinci/teacher/candidate/freed_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::teacher {
namespace {

using testing::ElementsAre;
using Lines = std::vector<std::string>;

TEST(FreedValues, EndBehindTheirLastUse) {
  const Lines lines = {"t1 = x.new_empty((4,))", "f(x, t1)", "t2 = x.new_empty((4,))", "f(t1, t2)",
                       "t3 = x.new_empty((4,))", "f(t2, t3)"};
  EXPECT_THAT(WithFreedValues(lines, {"t3"}),
              ElementsAre(lines[0], lines[1], lines[2], lines[3], "del t1", lines[4], lines[5]));
}

TEST(FreedValues, AreNeitherReturnedNorTheCallers) {
  const Lines lines = {"t1 = x.neg()", "t2 = y.neg()", "t3 = t1.exp()"};
  EXPECT_EQ(WithFreedValues(lines, {"t1", "t2", "t3"}), lines);
  EXPECT_THAT(WithFreedValues(lines, {"t1", "t3"}),
              ElementsAre(lines[0], lines[1], "del t2", lines[2]));
}

TEST(FreedValues, OfAStatementWithSeveralTargetsEndAlone) {
  EXPECT_THAT(WithFreedValues({"a, b = f(x)", "c = g(a)", "d = g(b)"}, {"d"}),
              ElementsAre("a, b = f(x)", "c = g(a)", "del a, c", "d = g(b)"));
}

TEST(FreedValues, StayWhereAStatementHoldsOthers) {
  const Lines lines = {"t1 = x.neg()", "with torch.enable_grad():", "    t2 = t1.exp()",
                       "t3 = t2.exp()"};
  EXPECT_EQ(WithFreedValues(lines, {"t3"}), lines);
}

}  // namespace
}  // namespace davinci::teacher
