#include "davinci/judge/check/verify.h"

#include <gtest/gtest.h>

#include <string>

namespace davinci::judge {
namespace {

using nlohmann::json;

TEST(VerifyTest, WhatIsRightLeavesNothingBroken) {
  EXPECT_FALSE(
      WhatBroke({.comparison = {{"passed", true}}, .late = false, .changed = std::nullopt}));
}

TEST(VerifyTest, LateWritesComeBeforeChangedInputs) {
  const auto broken = WhatBroke({.comparison = {}, .late = true, .changed = 1});
  ASSERT_TRUE(broken);
  EXPECT_NE(broken->message.find("went on changing"), std::string::npos) << broken->message;
}

TEST(VerifyTest, AChangedInputIsNamed) {
  const auto broken = WhatBroke({.comparison = {}, .late = false, .changed = 1});
  ASSERT_TRUE(broken);
  EXPECT_NE(broken->message.find("input 1"), std::string::npos) << broken->message;
}

TEST(VerifyTest, AComparisonAsksWhereTheLastInputsLie) {
  DrawnInputs inputs;
  inputs.shift[static_cast<int>(Side::kBaseline)] = 4096;
  Timed timed;
  timed.name = "baseline";
  timed.side = Side::kBaseline;
  const to_oracle::Compare asked = CompareRequest(inputs, timed, json::array());
  EXPECT_EQ(asked.left.outputs.name, "baseline");
  EXPECT_EQ(asked.left.outputs.shift, 4096);
  EXPECT_FALSE(asked.left.baseline);
}

}  // namespace
}  // namespace davinci::judge
