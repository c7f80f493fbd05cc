#include "davinci/numerics/element_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace davinci::numerics {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(HalfConversion, MatchesTheDefinitionForEveryPattern) {
  for (u32 bits = 0; bits < 65536; ++bits) {
    const int sign = (bits & 0x8000) ? -1 : 1;
    const int exponent = static_cast<int>((bits >> 10) & 31);
    const int mantissa = static_cast<int>(bits & 1023);
    const float got = FloatOfF16(static_cast<u16>(bits));
    if (exponent == 31) {
      if (mantissa != 0) {
        EXPECT_TRUE(std::isnan(got)) << bits;
      } else {
        EXPECT_EQ(got, sign * kInf) << bits;
      }
      continue;
    }
    // IEEE 754: (-1)^s * 2^(e-15) * (1 + m/1024), and without the hidden one at 2^-14 for e = 0.
    const double want = exponent == 0 ? sign * std::ldexp(mantissa, -24)
                                      : sign * std::ldexp(1024 + mantissa, exponent - 25);
    EXPECT_EQ(got, want) << bits;
    EXPECT_EQ(std::signbit(got), sign < 0) << bits;
  }
}

TEST(Bfloat16Conversion, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(FloatOfBf16(0x3f80), 1.0f);
  EXPECT_EQ(FloatOfBf16(0xc049), -3.140625f);
  EXPECT_EQ(FloatOfBf16(0xff80), -kInf);
  EXPECT_TRUE(std::isnan(FloatOfBf16(0x7fc0)));
}

TEST(BucketOf, IsTheBinadeOfTheMagnitude) {
  EXPECT_EQ(BucketOf(1.0), 0 - kMinExponent);
  EXPECT_EQ(BucketOf(-1.999), 0 - kMinExponent);
  EXPECT_EQ(BucketOf(2.0), 1 - kMinExponent);
  EXPECT_EQ(BucketOf(0.0), kZeroBucket);
  EXPECT_EQ(BucketOf(-0.0), kZeroBucket);
  EXPECT_EQ(BucketOf(0x1p-149), -149 - kMinExponent);  // smallest fp32 subnormal
  EXPECT_EQ(BucketOf(5e-324), 0);
  EXPECT_EQ(BucketOf(1e308), kZeroBucket - 1);
}

Tolerance Flat(DType dtype, double tol) {
  Tolerance tolerance = {};
  for (double& t : tolerance.bucket_tol) t = tol;
  for (double& r : tolerance.inv_bucket_rms) r = 1;
  tolerance.max_finite = LimitsOf(dtype).max_finite;
  tolerance.rms_multiple = 1;
  tolerance.dtype = static_cast<int>(dtype);
  return tolerance;
}

TEST(JudgeElement, AcceptsWhatIsWithinTheToleranceAndNothingElse) {
  const Tolerance t = Flat(DType::kF32, 0.5);
  EXPECT_FALSE(JudgeElement(t, 1.0, 1.5, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 1.0, 1.51, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 1.0, kNan, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 1.0, kInf, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 0.0, -kInf, false).wrong);
  EXPECT_FALSE(JudgeElement(t, 1.0, kNan, /*dont_care=*/true).wrong);
}

TEST(JudgeElement, SpecialTruthNeedsTheSameSpecialValue) {
  const Tolerance t = Flat(DType::kF32, 1e30);
  EXPECT_FALSE(JudgeElement(t, kNan, kNan, false).wrong);
  EXPECT_TRUE(JudgeElement(t, kNan, 0.0, false).wrong);
  EXPECT_TRUE(JudgeElement(t, kNan, kInf, false).wrong);
  EXPECT_FALSE(JudgeElement(t, kInf, kInf, false).wrong);
  EXPECT_TRUE(JudgeElement(t, kInf, -kInf, false).wrong);
  EXPECT_TRUE(JudgeElement(t, kInf, 3e38, false).wrong);
  EXPECT_TRUE(JudgeElement(t, -kInf, kNan, false).wrong);
}

TEST(JudgeElement, TruthBeyondTheTypeMayOverflowOrSaturate) {
  const Tolerance t = Flat(DType::kF16, 8.0);
  EXPECT_FALSE(JudgeElement(t, 1e6, kInf, false).wrong);
  EXPECT_FALSE(JudgeElement(t, 1e6, 65504, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 1e6, 60000, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 1e6, -kInf, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 1e6, kNan, false).wrong);
  // 65500 may legitimately round up and over.
  EXPECT_FALSE(JudgeElement(t, 65500, kInf, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 60000, kInf, false).wrong);
}

TEST(JudgeElement, HugeDoublesDoNotOverflowIntoAcceptance) {
  const Tolerance t = Flat(DType::kF64, 1e300);
  EXPECT_TRUE(JudgeElement(t, 1e308, -1e308, false).wrong);
  EXPECT_TRUE(JudgeElement(t, 1e308, -kInf, false).wrong);
}

TEST(JudgeElementDirect, AnOverflowedBaselineDemandsNothing) {
  const Tolerance t = Flat(DType::kF32, 0.5);
  EXPECT_EQ(JudgeElementDirect(t, kNan, 1.0).kind, ElementKind::kDontCare);
  EXPECT_EQ(JudgeElementDirect(t, kNan, kNan).kind, ElementKind::kSpecialMatch);
  EXPECT_EQ(JudgeElementDirect(t, kInf, kInf).kind, ElementKind::kSpecialMatch);
  EXPECT_TRUE(JudgeElementDirect(t, 1.0, kNan).wrong);
  EXPECT_TRUE(JudgeElementDirect(t, 1.0, 2.0).wrong);
}

TEST(ClassifyHonest, OverflowInsideTheHonestImplementationIsDontCare) {
  const DTypeLimits limits = LimitsOf(DType::kF32);
  double err = -1;
  EXPECT_EQ(ClassifyHonest(1.0, 1.25, limits, &err), HonestKind::kSample);
  EXPECT_EQ(err, 0.25);
  EXPECT_EQ(ClassifyHonest(1.0, kInf, limits, &err), HonestKind::kDontCare);
  EXPECT_EQ(ClassifyHonest(1.0, kNan, limits, &err), HonestKind::kDontCare);
  EXPECT_EQ(ClassifyHonest(kNan, 1.0, limits, &err), HonestKind::kDontCare);
  EXPECT_EQ(ClassifyHonest(kNan, kNan, limits, &err), HonestKind::kSpecial);
  EXPECT_EQ(ClassifyHonest(-kInf, -kInf, limits, &err), HonestKind::kSpecial);
  EXPECT_EQ(ClassifyHonest(kInf, -kInf, limits, &err), HonestKind::kDontCare);
  // Out of the output's range: Inf is what fp32 must say, and it is no error.
  EXPECT_EQ(ClassifyHonest(1e39, kInf, limits, &err), HonestKind::kSample);
  EXPECT_EQ(err, 0.0);
}

TEST(RatioBin, EdgesBelongToTheLowerBin) {
  EXPECT_EQ(RatioBin(0), 0);
  EXPECT_EQ(RatioBin(1e-4), 0);
  EXPECT_EQ(RatioBin(0.5), 4);
  EXPECT_EQ(RatioBin(1.0), 4);
  EXPECT_EQ(RatioBin(1.0000001), 5);
  EXPECT_EQ(RatioBin(kInf), 9);
  EXPECT_EQ(RatioBin(kNan), 9);
}

}  // namespace
}  // namespace davinci::numerics
