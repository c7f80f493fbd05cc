// Where the default multiples come from: errors of known implementations of a dot product, in units
// of the error of an honest one, for lengths 64..65536 and four distributions. Prints the table and
// asserts that the defaults separate.
//
// Honest, in turn:
//  - lanes: fp32 products, 16 partial sums, added pairwise; what vectorised libraries do
//  - pairwise: fp32 products, added pairwise from blocks of 32; the hardest to follow
// Candidates that must pass:
//  - serial: fp32, one accumulator, first to last
//  - fma: the same with fused multiply-add, last to first
// Candidates that must fail on signed data, all exact after reducing their inputs:
//  - tf32: cut to 10 mantissa bits
//  - tf32rn: rounded to 10 mantissa bits, which in fp16's normal range is fp16 as well
//  - bf16: rounded to 7 mantissa bits
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "davinci/numerics/compare.h"

namespace davinci::numerics {
namespace {

// Sanitizers have nothing to find in the longer sums.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kLongestSum = 1024;
#else
constexpr int kLongestSum = 65536;
#endif

float CutMantissa(float x, int bits) {
  u32 u = 0;
  std::memcpy(&u, &x, 4);
  u &= ~((1u << (23 - bits)) - 1);
  std::memcpy(&x, &u, 4);
  return x;
}

// Round to nearest even; normal range only, which is all that is drawn here (fp16's smallest normal
// is 6e-5).
float RoundMantissa(float x, int bits) {
  u32 u = 0;
  std::memcpy(&u, &x, 4);
  const u32 drop = 23 - bits;
  u += ((1u << (drop - 1)) - 1) + ((u >> drop) & 1);
  u &= ~((1u << drop) - 1);
  std::memcpy(&x, &u, 4);
  return x;
}

// As stored: the 16 bits of a value already rounded.
u16 BitsOfBf16(float x) {
  u32 u = 0;
  std::memcpy(&u, &x, 4);
  return static_cast<u16>(u >> 16);
}

struct Rows {
  int k = 0;
  int n = 0;
  std::vector<float> a, b;
  const float* A(int row) const { return a.data() + static_cast<size_t>(row) * k; }
  const float* B(int row) const { return b.data() + static_cast<size_t>(row) * k; }
};

Rows Draw(const std::string& distribution, int k, int n) {
  std::mt19937_64 rng(17);
  Rows rows{k, n, {}, {}};
  rows.a.resize(static_cast<size_t>(k) * n);
  rows.b.resize(rows.a.size());
  std::uniform_real_distribution<float> uniform(0.001f, 1);
  std::normal_distribution<float> normal;
  std::student_t_distribution<float> heavy(2);
  for (auto* side : {&rows.a, &rows.b})
    for (float& x : *side) {
      if (distribution == "uniform") x = uniform(rng);
      if (distribution == "normal") x = normal(rng);
      if (distribution == "heavy") x = heavy(rng);
    }
  if (distribution == "cancel") {
    // Second half repeats the first with the sign changed and a little noise: outputs far below the
    // terms.
    for (int row = 0; row < n; ++row)
      for (int i = 0; i < k; ++i) {
        const size_t at = static_cast<size_t>(row) * k + i;
        const size_t twin = static_cast<size_t>(row) * k + i - k / 2;
        rows.a[at] = i < k / 2 ? normal(rng) : -rows.a[twin] * (1 + 0.01f * normal(rng));
        rows.b[at] = i < k / 2 ? normal(rng) : rows.b[twin];
      }
  }
  return rows;
}

double Exact(const float* a, const float* b, int k) {
  double sum = 0;
  for (int i = 0; i < k; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

float Blocked(const float* a, const float* b, int k) {
  float lanes[16] = {};
  for (int i = 0; i < k; ++i) lanes[i % 16] += a[i] * b[i];
  for (int width = 8; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

float Pairwise(const float* a, const float* b, int k) {
  if (k > 32) return Pairwise(a, b, k / 2) + Pairwise(a + k / 2, b + k / 2, k - k / 2);
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[i] * b[i];
  return sum;
}

float Serial(const float* a, const float* b, int k) {
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[i] * b[i];
  return sum;
}

float SerialFma(const float* a, const float* b, int k) {
  float sum = 0;
  for (int i = k - 1; i >= 0; --i) sum = std::fma(a[i], b[i], sum);
  return sum;
}

float Reduced(const float* a, const float* b, int k, const std::function<float(float)>& reduce) {
  double sum = 0;
  for (int i = 0; i < k; ++i)
    sum += static_cast<double>(reduce(a[i])) * static_cast<double>(reduce(b[i]));
  return static_cast<float>(sum);
}

using Dot = std::function<float(const float*, const float*, int)>;

std::vector<float> Apply(const Rows& rows, const Dot& dot) {
  std::vector<float> out(rows.n);
  for (int row = 0; row < rows.n; ++row) out[row] = dot(rows.A(row), rows.B(row), rows.k);
  return out;
}

struct Method {
  const char* name;
  Dot dot;
  bool honest;
};

const std::vector<Method>& Methods() {
  static const std::vector<Method> methods = {
      {"serial", Serial, true},
      {"fma", SerialFma, true},
      {"tf32",
       [](const float* a, const float* b, int k) {
         return Reduced(a, b, k, [](float x) { return CutMantissa(x, 10); });
       },
       false},
      {"tf32rn",
       [](const float* a, const float* b, int k) {
         return Reduced(a, b, k, [](float x) { return RoundMantissa(x, 10); });
       },
       false},
      {"bf16",
       [](const float* a, const float* b, int k) {
         return Reduced(a, b, k, [](float x) { return RoundMantissa(x, 7); });
       },
       false},
  };
  return methods;
}

struct Case {
  const char* distribution;
  const char* honest_name;
  float (*honest)(const float*, const float*, int);
};

class ToleranceCalibration : public ::testing::TestWithParam<Case> {};

TEST_P(ToleranceCalibration, IeeeSumsPassAndReducedInputsFail) {
  const std::string distribution = GetParam().distribution;
  std::printf("%-8s %6s  method  (honest: %s)  rms/honest   max_ratio  wrong%%  verdict\n",
              distribution.c_str(), "K", GetParam().honest_name);
  for (const int k : {64, 256, 1024, 4096, 16384, 65536}) {
    if (k > kLongestSum) break;
    const int n = k >= 16384 ? 64 : 512;
    const Rows rows = Draw(distribution, k, n);
    std::vector<double> truth(n);
    for (int row = 0; row < n; ++row) truth[row] = Exact(rows.A(row), rows.B(row), k);
    const std::vector<float> honest = Apply(rows, GetParam().honest);
    ErrorProfile profile = {};
    ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kF32, n,
                                  &profile, nullptr, 1)
                    .ok());
    const ToleranceOptions options = DefaultToleranceOptions(DType::kF32);
    const auto tolerance = BuildTolerance(profile, DType::kF32, options);
    ASSERT_TRUE(tolerance.ok());
    for (const Method& method : Methods()) {
      const std::vector<float> candidate = Apply(rows, method.dot);
      const auto r = Compare(truth.data(), candidate.data(), DType::kF32, n, *tolerance, {});
      ASSERT_TRUE(r.ok());
      std::printf("%-8s %6d  %-8s %30.2f %11.3g %7.2f  %s\n", distribution.c_str(), k, method.name,
                  r->rms_ratio, r->max_ratio, 100.0 * static_cast<double>(r->num_wrong) / n,
                  r->passed ? "pass" : "FAIL");
      if (method.honest) {
        EXPECT_TRUE(r->passed) << method.name << " K=" << k << ": "
                               << DescribeResult(*r, DType::kF32);
        EXPECT_LT(r->max_ratio, 0.8)
            << method.name << " K=" << k << ": passes, but with too little room";
      } else if (distribution != "uniform") {
        EXPECT_FALSE(r->passed) << method.name << " K=" << k << ": "
                                << DescribeResult(*r, DType::kF32);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Distributions, ToleranceCalibration,
    ::testing::Values(Case{"uniform", "lanes", Blocked}, Case{"normal", "lanes", Blocked},
                      Case{"heavy", "lanes", Blocked}, Case{"cancel", "lanes", Blocked},
                      Case{"uniform", "pairwise", Pairwise}, Case{"normal", "pairwise", Pairwise},
                      Case{"heavy", "pairwise", Pairwise}, Case{"cancel", "pairwise", Pairwise}),
    [](const auto& param_info) {
      return std::string(param_info.param.distribution) + "_" + param_info.param.honest_name;
    });

// bf16 task: inputs and output bf16, honest accumulates in fp32. A serial fp32 sum passes;
// accumulating in bf16 fails.
TEST(ToleranceCalibration16Bit, Fp32AccumulationPassesAndBf16AccumulationFails) {
  for (const int k : {64, 256, 1024, 4096}) {
    const int n = 512;
    Rows rows = Draw("normal", k, n);
    for (auto* side : {&rows.a, &rows.b})
      for (float& x : *side) x = RoundMantissa(x, 7);
    std::vector<double> truth(n);
    for (int row = 0; row < n; ++row) truth[row] = Exact(rows.A(row), rows.B(row), k);
    const auto stored = [&](const Dot& dot) {
      std::vector<u16> out(n);
      for (int row = 0; row < n; ++row)
        out[row] = BitsOfBf16(RoundMantissa(dot(rows.A(row), rows.B(row), k), 7));
      return out;
    };
    const std::vector<u16> honest = stored(Blocked);
    ErrorProfile profile = {};
    ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kBf16, DType::kBf16, n,
                                  &profile, nullptr, 1)
                    .ok());
    const auto tolerance =
        BuildTolerance(profile, DType::kBf16, DefaultToleranceOptions(DType::kBf16));
    ASSERT_TRUE(tolerance.ok());
    const auto judge = [&](const char* name, const Dot& dot) {
      const std::vector<u16> candidate = stored(dot);
      const CompareResult r =
          *Compare(truth.data(), candidate.data(), DType::kBf16, n, *tolerance, {});
      std::printf("bf16 task K=%5d %-12s rms/honest %8.2f  max_ratio %8.3g  %s\n", k, name,
                  r.rms_ratio, r.max_ratio, r.passed ? "pass" : "FAIL");
      return r.passed != 0;
    };
    EXPECT_TRUE(judge("serial fp32", Serial));
    const bool sloppy = judge("bf16 accum", [](const float* a, const float* b, int count) {
      float sum = 0;
      for (int i = 0; i < count; ++i) sum = RoundMantissa(sum + a[i] * b[i], 7);
      return sum;
    });
    EXPECT_FALSE(sloppy) << k;
    // Inputs in an 8-bit format (e4m3 has 3 mantissa bits).
    EXPECT_FALSE(judge("fp8 inputs", [](const float* a, const float* b, int count) {
      return Reduced(a, b, count, [](float x) { return RoundMantissa(x, 3); });
    }));
  }
}

// One scalar (a loss over a million elements): by luck the honest error can be almost nothing. The
// assumed half ulp for thin profiles must keep a serial sum from being accused.
TEST(ThinProfiles, AScalarReductionIsNotAccusedForTheHonestOnesLuck) {
  const Rows rows = Draw("uniform", 65536, 1);
  const double truth = Exact(rows.A(0), rows.B(0), rows.k);
  const auto lucky = static_cast<float>(truth);
  ErrorProfile profile = {};
  ASSERT_TRUE(
      AccumulateProfile(&truth, &lucky, DType::kF32, DType::kF32, 1, &profile, nullptr, 1).ok());
  EXPECT_TRUE(ProfileIsThin(profile));
  const auto tolerance = BuildTolerance(profile, DType::kF32, DefaultToleranceOptions(DType::kF32));
  ASSERT_TRUE(tolerance.ok());
  const float serial = Serial(rows.A(0), rows.B(0), rows.k);
  const auto r = Compare(&truth, &serial, DType::kF32, 1, *tolerance, {});
  std::printf("scalar K=65536 serial: %s\n", DescribeResult(*r, DType::kF32).c_str());
  EXPECT_TRUE(r->passed);
  const float off = static_cast<float>(truth * (1 + 1e-4));
  EXPECT_FALSE(Compare(&truth, &off, DType::kF32, 1, *tolerance, {})->passed);
}

// Elementwise functions whose formulas lose relative accuracy in a tail are not wrong.
TEST(ScaleFloor, GeluFromErfPassesAgainstAnAccurateReference) {
  std::mt19937_64 rng(23);
  std::normal_distribution<double> normal(0, 3);
  const int n = 20000;
  std::vector<double> truth(n);
  std::vector<float> honest(n), candidate(n), cheap(n);
  for (int i = 0; i < n; ++i) {
    const auto x = static_cast<float>(normal(rng));
    const auto d = static_cast<double>(x);
    truth[i] = 0.5 * d * std::erfc(-d * M_SQRT1_2);
    honest[i] = static_cast<float>(truth[i]);
    candidate[i] = 0.5f * x * (1.0f + std::erf(x * static_cast<float>(M_SQRT1_2)));
    cheap[i] = 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
  }
  ErrorProfile profile = {};
  ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kF32, n, &profile,
                                nullptr, 1)
                  .ok());
  const auto tolerance = BuildTolerance(profile, DType::kF32, DefaultToleranceOptions(DType::kF32));
  const auto fair = Compare(truth.data(), candidate.data(), DType::kF32, n, *tolerance, {});
  const auto approximated = Compare(truth.data(), cheap.data(), DType::kF32, n, *tolerance, {});
  std::printf("gelu via erf: %s\ngelu via tanh: %s\n", DescribeResult(*fair, DType::kF32).c_str(),
              DescribeResult(*approximated, DType::kF32).c_str());
  EXPECT_TRUE(fair->passed);
  EXPECT_FALSE(approximated->passed);
}

}  // namespace
}  // namespace davinci::numerics
