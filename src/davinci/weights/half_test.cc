#include "davinci/weights/half.h"

#include <gtest/gtest.h>

#include <cmath>

#include "davinci/weights/dequantize.h"

namespace davinci::weights {
namespace {

TEST(Half, EveryF16ComesBackAndLiesBetweenItsNeighbours) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = FloatFromF16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(FloatFromF16(F16FromFloat(value))));
      continue;
    }
    ASSERT_EQ(F16FromFloat(value), bits);
    if ((bits & 0x7fff) >= 0x7bff) continue;  // the largest, and infinity
    const float next = FloatFromF16(static_cast<uint16_t>(bits + 1));
    const float middle = (value + next) / 2;
    ASSERT_EQ(F16FromFloat(middle), bits % 2 == 0 ? bits : bits + 1);  // to even
    ASSERT_EQ(F16FromFloat(std::nextafter(middle, next)), bits + 1);
  }
  EXPECT_EQ(FloatFromF16(1), std::ldexp(1.0F, -24));
  EXPECT_EQ(F16FromFloat(65519.0F), 0x7bff);
  EXPECT_EQ(F16FromFloat(65520.0F), 0x7c00);
}

TEST(Half, Bf16RoundsToEvenAndKeepsNan) {
  EXPECT_EQ(Bf16FromFloat(1.0F), 0x3f80);
  EXPECT_EQ(Bf16FromFloat(1.00390625F), 0x3f80);  // halfway, to even
  EXPECT_EQ(Bf16FromFloat(1.01171875F), 0x3f82);
  EXPECT_TRUE(std::isnan(FloatFromBf16(Bf16FromFloat(std::nanf("")))));
  EXPECT_EQ(Bf16FromFloat(3.4e38F), 0x7f80);
}

TEST(Dequantize, Q8_0KeepsWithinHalfAStep) {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) values.push_back(std::sin(static_cast<float>(i)) * 3);
  const auto bytes = Quantize(DType::kQ8_0, values);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->size(), 68U);
  std::vector<float> back(64);
  ASSERT_TRUE(Dequantize(DType::kQ8_0, *bytes, back).ok());
  for (size_t i = 0; i < 64; ++i) EXPECT_NEAR(back[i], values[i], 3.0 / 127 * 0.51 + 2e-3);
}

TEST(Dequantize, SizesThatDoNotFitAreRefused) {
  std::vector<float> out(31);
  EXPECT_FALSE(Dequantize(DType::kQ8_0, std::vector<std::byte>(34), out).ok());
  EXPECT_FALSE(Dequantize(DType::kI32, std::vector<std::byte>(124), out).ok());
  EXPECT_FALSE(Quantize(DType::kQ4_K, std::vector<float>(256)).ok());
  EXPECT_FALSE(Quantize(DType::kQ8_0, std::vector<float>(33)).ok());
}

}  // namespace
}  // namespace davinci::weights
