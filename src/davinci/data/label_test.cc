#include "davinci/data/label.h"

#include <gtest/gtest.h>

#include "davinci/data/rule.h"

namespace davinci {
namespace {

TEST(Label, ValuesStandForNames) {
  EXPECT_EQ(LabelText(Label::kLowCoverage), "low coverage");
  EXPECT_EQ(LabelText(Label::kTaskTag, {"identity"}), "task: identity");
  EXPECT_EQ(LabelText(Label::kInconclusive, {"0.5", "3"}),
            "inconclusive: 0.5 to 3 x, busy machine");
  EXPECT_EQ(LabelText(Label::kUnwrittenPages, {"12"}), "12 pages of the outputs are not written");
}

TEST(Label, EveryTextParsesBack) {
  for (const LabelRow& row : Labels()) {
    const std::string text = LabelText(row.label, {"7.5", "8"});
    EXPECT_TRUE(IsLabel(text, row.label)) << text;
    const auto parsed = ParseLabel(text);
    ASSERT_TRUE(parsed) << text;
    // The two labels of vendor libraries have one form.
    EXPECT_TRUE(*parsed == row.label || row.label == Label::kVendorLibrary) << text;
  }
  EXPECT_EQ(ParseLabel("task: compiles itself"), Label::kCompilesItself);
  EXPECT_EQ(ParseLabel("task: constant-output"), Label::kTaskTag);
  for (const char* other : {"", "task: ", "coverage", "low coverage!", "inconclusive: 1 to 2 x"})
    EXPECT_FALSE(ParseLabel(other)) << other;
}

TEST(Rule, EveryNameParsesBack) {
  for (const RuleRow& row : Rules()) {
    EXPECT_EQ(ParseRule(row.name), row.rule);
    EXPECT_EQ(RuleName(row.rule), row.name);
    EXPECT_EQ(row.kind == RuleKind::kTiming, row.outcome == Outcome::kInvalidTiming) << row.name;
  }
  EXPECT_FALSE(ParseRule("no_such_rule"));
}

}  // namespace
}  // namespace davinci
