// Long sums: what fp32 allows passes in any order, half-precision accumulators do not, however the
// rows are drawn. The honest implementation adds up in a tree, as the references on both targets
// do.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "davinci/numerics/compare.h"
#include "davinci/numerics/tolerance.h"

namespace davinci::numerics {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kLongest = 65536;  // sanitizers have nothing to find in the longer sums
#else
constexpr int kLongest = 1 << 20;
#endif
constexpr int kAccumulators = 1024;
constexpr int kHalfBits = 10;  // explicit bits of the mantissa; range is not modelled
constexpr int kBrainBits = 7;

// To `bits` bits behind the leading one, to nearest even.
float Round(float x, int bits) {
  const int dropped = 23 - bits;
  uint32_t u = 0;
  std::memcpy(&u, &x, sizeof u);
  u += (uint32_t{1} << (dropped - 1)) - 1 + ((u >> dropped) & 1);
  u &= ~((uint32_t{1} << dropped) - 1);
  std::memcpy(&x, &u, sizeof x);
  return x;
}

float Tree(const float* x, int n) {
  if (n <= 8) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    return sum;
  }
  return Tree(x, n / 2) + Tree(x + n / 2, n - n / 2);
}

float Serial(const float* x, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum;
}

float Backwards(const float* x, int n) {
  float sum = 0;
  for (int i = n - 1; i >= 0; --i) sum += x[i];
  return sum;
}

float Lanes(const float* x, int n) {
  float lanes[16] = {};
  for (int i = 0; i < n; ++i) lanes[i % 16] += x[i];
  return Tree(lanes, 16);
}

float Kahan(const float* x, int n) {
  float sum = 0, lost = 0;
  for (int i = 0; i < n; ++i) {
    const volatile float term = x[i] - lost;
    const volatile float next = sum + term;
    const volatile float gained = next - sum;
    lost = gained - term;
    sum = next;
  }
  return sum;
}

// `accumulators` sums of `bits` bits each, added up in fp32 at the end.
float Accumulated(const float* x, int n, int bits, int accumulators) {
  std::vector<float> sums(static_cast<size_t>(accumulators));
  for (int i = 0; i < n; ++i) {
    float& sum = sums[static_cast<size_t>(i % accumulators)];
    sum = Round(sum + Round(x[i], bits), bits);
  }
  return Tree(sums.data(), accumulators);
}

float RoundedInputs(const float* x, int n, int bits) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<double>(Round(x[i], bits));
  return static_cast<float>(sum);
}

using Sum = std::function<float(const float*, int)>;

struct Method {
  const char* name;
  Sum sum;
};

const std::vector<Method>& Honest() {
  static const std::vector<Method> methods = {
      {"serial", Serial}, {"backwards", Backwards}, {"16 lanes", Lanes}, {"Kahan", Kahan}};
  return methods;
}

const std::vector<Method>& Sloppy() {
  static const std::vector<Method> methods = {
      {"1 x fp16", [](const float* x, int n) { return Accumulated(x, n, kHalfBits, 1); }},
      {"1 x bf16", [](const float* x, int n) { return Accumulated(x, n, kBrainBits, 1); }},
      {"1024 x fp16",
       [](const float* x, int n) { return Accumulated(x, n, kHalfBits, kAccumulators); }},
      {"1024 x bf16",
       [](const float* x, int n) { return Accumulated(x, n, kBrainBits, kAccumulators); }},
  };
  return methods;
}

// On positive numbers rounded inputs are as good as a serial sum; the signed inputs of the judge
// are for them.
const std::vector<Method>& SloppyWhenSigned() {
  static const std::vector<Method> methods = {
      {"fp16 inputs", [](const float* x, int n) { return RoundedInputs(x, n, kHalfBits); }},
      {"bf16 inputs", [](const float* x, int n) { return RoundedInputs(x, n, kBrainBits); }},
  };
  return methods;
}

class LongSums : public ::testing::TestWithParam<const char*> {
 protected:
  void Draw(int terms) {
    terms_ = terms;
    rows_ = terms > 65536 ? 16 : 48;
    numbers_.resize(static_cast<size_t>(rows_) * static_cast<size_t>(terms));
    std::mt19937_64 rng(static_cast<uint64_t>(terms));
    std::uniform_real_distribution<float> uniform(0, 1);
    std::normal_distribution<float> normal;
    std::student_t_distribution<float> heavy(2);
    const std::string kind = GetParam();
    for (float& x : numbers_)
      x = kind == "uniform" ? uniform(rng) : kind == "normal" ? normal(rng) : heavy(rng);
    truth_.resize(static_cast<size_t>(rows_));
    for (int row = 0; row < rows_; ++row) {
      double sum = 0;
      for (int i = 0; i < terms; ++i) sum += static_cast<double>(Row(row)[i]);
      truth_[static_cast<size_t>(row)] = sum;
    }
  }

  const float* Row(int row) const {
    return numbers_.data() + static_cast<size_t>(row) * static_cast<size_t>(terms_);
  }

  std::vector<float> Apply(const Sum& sum) const {
    std::vector<float> out;
    for (int row = 0; row < rows_; ++row) out.push_back(sum(Row(row), terms_));
    return out;
  }

  Tolerance FromTree() const {
    const std::vector<float> honest = Apply(Tree);
    ErrorProfile profile = {};
    EXPECT_TRUE(AccumulateProfile(truth_.data(), honest.data(), DType::kF32, DType::kF32, rows_,
                                  &profile, nullptr, 1)
                    .ok());
    ToleranceOptions options = DefaultToleranceOptions(DType::kF32);
    options.terms = terms_;
    return *BuildTolerance(profile, DType::kF32, options);
  }

  CompareResult Judge(const Method& method, const Tolerance& tolerance) const {
    const std::vector<float> candidate = Apply(method.sum);
    const CompareResult r =
        *Compare(truth_.data(), candidate.data(), DType::kF32, rows_, tolerance, {});
    std::printf("%-8s %8d  %-12s rms/allowed %10.3g  max_ratio %10.3g  %s\n", GetParam(), terms_,
                method.name, r.rms_ratio / tolerance.rms_multiple, r.max_ratio,
                r.passed ? "pass" : "FAIL");
    return r;
  }

  int terms_ = 0;
  int rows_ = 0;
  std::vector<float> numbers_;
  std::vector<double> truth_;
};

TEST_P(LongSums, AnyOrderOfFp32PassesAndHalfPrecisionDoesNot) {
  for (const int terms : {4096, 65536, 1 << 18, 1 << 20}) {
    if (terms > kLongest) break;
    Draw(terms);
    const Tolerance tolerance = FromTree();
    for (const Method& method : Honest())
      EXPECT_TRUE(Judge(method, tolerance).passed) << method.name << ", " << terms << " terms";
    const bool is_signed = std::string(GetParam()) != "uniform";
    for (const Method& method : Sloppy()) {
      // On long positive sums these are as good as one fp32 loop may be, as below.
      if (std::string(method.name) == "1024 x fp16" && terms > 4096 && !is_signed) continue;
      EXPECT_FALSE(Judge(method, tolerance).passed) << method.name << ", " << terms << " terms";
    }
    if (!is_signed) continue;
    for (const Method& method : SloppyWhenSigned())
      EXPECT_FALSE(Judge(method, tolerance).passed) << method.name << ", " << terms << " terms";
  }
}

INSTANTIATE_TEST_SUITE_P(Drawn, LongSums, ::testing::Values("uniform", "normal", "heavy"),
                         [](const auto& param_info) { return std::string(param_info.param); });

// A reference that is itself a serial sum is no reason to let the next one err eight times more.
TEST(LongSumsWidening, AppliesOnlyToWhatATreeErrs) {
  const int n = 4096;
  std::vector<double> truth(n, 1.5);
  std::vector<float> honest(n, 1.5f * (1 + 100 * 0x1p-23f));
  const auto limit = [&](double terms) {
    ErrorProfile profile = {};
    EXPECT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kF32, n,
                                  &profile, nullptr, 1)
                    .ok());
    ToleranceOptions options = DefaultToleranceOptions(DType::kF32);
    options.terms = terms;
    return BuildTolerance(profile, DType::kF32, options)->bucket_tol[BucketOf(1.5)];
  };
  const double few = limit(1);
  EXPECT_DOUBLE_EQ(limit(kSerialTerms), few);
  EXPECT_LT(limit(1e12), 1.5 * few);
  honest.assign(n, 1.5f * (1 + 2 * 0x1p-23f));
  EXPECT_NEAR(limit(16 * kSerialTerms) / limit(1), 4, 0.1);
  EXPECT_NEAR(limit(1e12) / limit(1), kMaxWidening, 0.2);
}

// What is always allowed, in ulps of the element.
TEST(LongSumsWidening, OneLoopIsAllowedItsSquareRoot) {
  const auto ulps = [](double terms, DType dtype, double spread = 0) {
    ErrorProfile profile = {};
    const double truth = 1.5;
    EXPECT_TRUE(
        AccumulateProfile(&truth, &truth, DType::kF64, dtype, 1, &profile, nullptr, 1).ok());
    ToleranceOptions options = DefaultToleranceOptions(dtype);
    options.terms = terms;
    options.spread = spread;
    return BuildTolerance(profile, dtype, options)->rel_floor / LimitsOf(dtype).eps;
  };
  EXPECT_DOUBLE_EQ(ulps(kLoopTerms - 1, DType::kF32), 4);
  EXPECT_DOUBLE_EQ(ulps(4096, DType::kF32), 64 * kLoopUlps);
  EXPECT_DOUBLE_EQ(ulps(4096, DType::kF32, 1), 64 * kLoopUlpsOfMagnitudes);
  EXPECT_DOUBLE_EQ(ulps(1e12, DType::kF32), 256 * kLoopUlps);
  EXPECT_DOUBLE_EQ(ulps(1e12, DType::kBf16), 2);
}

TEST(LongSumsWidening, LowerPrecisionsHaveNone) {
  const int n = 4096;
  const std::vector<double> truth(n, 1.5);
  const std::vector<float> honest(n, 1.5f * (1 + 0x1p-9f));
  ErrorProfile profile = {};
  ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kBf16, n, &profile,
                                nullptr, 1)
                  .ok());
  ToleranceOptions options = DefaultToleranceOptions(DType::kBf16);
  const double few = BuildTolerance(profile, DType::kBf16, options)->bucket_tol[BucketOf(1.5)];
  options.terms = 1e9;
  EXPECT_EQ(BuildTolerance(profile, DType::kBf16, options)->bucket_tol[BucketOf(1.5)], few);
}

}  // namespace
}  // namespace davinci::numerics
