#include "davinci/base/number.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace davinci {
namespace {

TEST(WholeNumber, TheWholeTextIsTheNumber) {
  EXPECT_EQ(WholeNumber<int64_t>("00000010"), 10);
  EXPECT_EQ(WholeNumber<int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(WholeNumber<int>("-3"), -3);
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x10", "1e3", "ten", "-"})
    EXPECT_FALSE(WholeNumber<int>(text)) << text;
}

TEST(WholeNumber, WhatDoesNotFitIsNoNumber) {
  EXPECT_FALSE(WholeNumber<int>("2147483648"));
  EXPECT_FALSE(WholeNumber<int64_t>("9223372036854775808"));
  EXPECT_FALSE(WholeNumber<size_t>("-1"));
}

}  // namespace
}  // namespace davinci
