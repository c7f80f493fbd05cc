#include "davinci/import/size_expression.h"

#include <gtest/gtest.h>

namespace davinci::import {
namespace {

const std::vector<TracedSymbol> kSymbols = {{"s0", 8, {8, 5}, "x.shape[0]"},
                                            {"s1", 3, {3, 3}, "x.shape[1]"}};

int64_t At(std::string_view text) {
  const auto size = ParseSize(text, kSymbols);
  return size ? SizeAt(*size, kSymbols).value_or(-1000) : -2000;
}

TEST(SizeExpression, IsASumOfProducts) {
  EXPECT_EQ(At("s0"), 8);
  EXPECT_EQ(At("12"), 12);
  EXPECT_EQ(At("2*s0*s1 + s1 - 5"), 46);
  EXPECT_EQ(At("-s0 - 2*s1"), -14);
}

TEST(SizeExpression, WhatIsNoSumOfProductsIsRefused) {
  for (const char* text : {"", "s2", "s0//2", "s0 +", "(s0)", "s0 * s1", "2s0", "s0**2", "- s0",
                           "99999999999999999999", "2*", "s0 + + s1"})
    EXPECT_FALSE(ParseSize(text, kSymbols)) << text;
  std::string many = "s0";
  for (int i = 0; i < 100; ++i) many += " + s0";
  EXPECT_FALSE(ParseSize(many, kSymbols));
}

TEST(SizeExpression, ASizeBeyondBoundsIsNone) {
  EXPECT_EQ(At("1099511627776*s0"), -1000);
  EXPECT_EQ(At("1000000000*1000000000"), -2000);
}

TEST(SizeExpression, SizesInATextAreReplaced) {
  const auto name = [](const SizeExpression& size) {
    return std::to_string(SizeAt(size, kSymbols).value());
  };
  EXPECT_EQ(WithSizes("{0}.reshape(\u27e6s0*s1\u27e7, \u27e6s1 - 1\u27e7)", kSymbols, name),
            "{0}.reshape(24, 2)");
  EXPECT_EQ(WithSizes("{0}.relu()", kSymbols, name), "{0}.relu()");
  EXPECT_FALSE(WithSizes("\u27e6s0", kSymbols, name));
  EXPECT_FALSE(WithSizes("\u27e6y\u27e7", kSymbols, name));
}

}  // namespace
}  // namespace davinci::import
