#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "davinci/numerics/compare.h"
#include "davinci/numerics/element_load.h"

namespace davinci::numerics {
namespace {

constexpr DType kQuickTypes[] = {DType::kF32, DType::kBf16, DType::kF16};

// Values of one type as they are stored, settable by number.
class Stored {
 public:
  Stored(DType dtype, size_t n) : dtype_(dtype), words_(n), halves_(n) {}

  // Rounded to nearest; beyond the range infinity.
  void Set(size_t i, double x) {
    const auto value = static_cast<float>(x);
    words_[i] = value;
    if (dtype_ == DType::kBf16) halves_[i] = Nearest(x, std::bit_cast<uint32_t>(value) >> 16);
    if (dtype_ == DType::kF16) halves_[i] = NearestF16(x);
  }
  double Get(size_t i) const {
    double x = 0;
    LoadDoubles(data(), dtype_, static_cast<int64_t>(i), 1, &x);
    return x;
  }
  const void* data() const {
    return dtype_ == DType::kF32 ? static_cast<const void*>(words_.data()) : halves_.data();
  }

 private:
  static u16 Nearest(double x, uint32_t truncated) {
    const auto low = static_cast<u16>(truncated);
    if (std::isnan(x) || std::isinf(x)) return std::isnan(x) ? static_cast<u16>(low | 0x40) : low;
    const auto high = static_cast<u16>(low + 1);
    return std::abs(FloatOfBf16(high) - x) < std::abs(FloatOfBf16(low) - x) ? high : low;
  }
  static u16 NearestF16(double x) {
    if (std::isnan(x)) return 0x7e00;
    const u16 sign = std::signbit(x) ? 0x8000 : 0;
    const double magnitude = std::abs(x);
    if (magnitude >= 65520) return sign | 0x7c00;
    const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : -14, -14);
    const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    return static_cast<u16>(sign | (steps + ((exponent + 14) << 10)));
  }

  DType dtype_;
  std::vector<float> words_;
  std::vector<u16> halves_;
};

struct Case {
  std::vector<double> truth;
  Stored baseline;
  Tolerance tolerance;
};

// `draw(i)` is the truth; the baseline is it rounded.
template <typename Draw>
Case MakeCase(DType dtype, size_t n, const Draw& draw) {
  Case made{std::vector<double>(n), Stored(dtype, n), {}};
  for (size_t i = 0; i < n; ++i) {
    made.truth[i] = draw(i);
    made.baseline.Set(i, made.truth[i]);
  }
  ErrorProfile profile = {};
  EXPECT_TRUE(AccumulateProfile(made.truth.data(), made.baseline.data(), dtype, dtype,
                                static_cast<int64_t>(n), &profile, nullptr, 1)
                  .ok());
  const auto built = BuildTolerance(profile, dtype, DefaultToleranceOptions(dtype));
  EXPECT_TRUE(built.ok());
  made.tolerance = *built;
  return made;
}

bool Accepts(const Case& made, const Stored& candidate, DType dtype, int threads = 1) {
  const auto accepted = AcceptsQuickly(made.baseline.data(), candidate.data(), dtype,
                                       std::ssize(made.truth), made.tolerance, threads);
  EXPECT_TRUE(accepted.ok());
  return *accepted;
}

bool Passes(const Case& made, const Stored& candidate, DType dtype) {
  return CompareDirect(made.baseline.data(), candidate.data(), dtype, std::ssize(made.truth),
                       made.tolerance, {})
      ->passed;
}

TEST(AcceptsQuickly, HonestCandidatesAreAccepted) {
  for (const DType dtype : kQuickTypes) {
    std::mt19937_64 rng(3);
    std::normal_distribution<double> normal;
    const Case made = MakeCase(dtype, 200'001, [&](size_t i) {
      if (i % 97 == 0) return 0.0;
      if (i % 1009 == 0) return std::numeric_limits<double>::infinity();
      return i % 89 == 0 ? 1e-3 * normal(rng) : normal(rng);
    });
    Stored same(dtype, made.truth.size()), near(dtype, made.truth.size());
    const double ulp = LimitsOf(dtype).eps;
    for (size_t i = 0; i < made.truth.size(); ++i) {
      same.Set(i, made.truth[i]);
      near.Set(i, made.truth[i] * (1 + (i % 3 == 0 ? 0.5 : 0) * ulp));
    }
    EXPECT_TRUE(Accepts(made, same, dtype)) << DTypeName(dtype);
    EXPECT_TRUE(Accepts(made, near, dtype)) << DTypeName(dtype);
    EXPECT_TRUE(Accepts(made, near, dtype, 4)) << DTypeName(dtype);
  }
}

// Heavy tails need the limit of each bucket: the strictest of all would refuse the large ones.
TEST(AcceptsQuickly, HonestCandidatesAcrossManyBinadesAreAccepted) {
  for (const DType dtype : {DType::kF32, DType::kBf16}) {
    std::mt19937_64 rng(4);
    std::normal_distribution<double> normal;
    const Case made = MakeCase(dtype, 100'000, [&](size_t) { return std::exp(8 * normal(rng)); });
    Stored near(dtype, made.truth.size());
    for (size_t i = 0; i < made.truth.size(); ++i)
      near.Set(i, made.truth[i] * (1 + 0.5 * LimitsOf(dtype).eps));
    EXPECT_TRUE(Accepts(made, near, dtype)) << DTypeName(dtype);
  }
}

TEST(AcceptsQuickly, OneWrongElementIsNeverAccepted) {
  for (const DType dtype : kQuickTypes) {
    std::mt19937_64 rng(5);
    std::normal_distribution<double> normal;
    const Case made = MakeCase(dtype, 70'000, [&](size_t) { return normal(rng); });
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double wrong : {nan, infinity, -infinity, 9.0}) {
      Stored candidate = made.baseline;
      candidate.Set(66'000, wrong);
      EXPECT_FALSE(Accepts(made, candidate, dtype)) << DTypeName(dtype) << " " << wrong;
    }
  }
}

TEST(AcceptsQuickly, NotANumberAndUnlikeInfinitiesAreLookedAtByTheOthers) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Case made = MakeCase(DType::kF32, 100, [&](size_t i) {
    return i == 50 ? infinity : i == 51 ? std::nan("") : 1.0 + 0.01 * static_cast<double>(i);
  });
  Stored candidate = made.baseline;
  EXPECT_FALSE(Accepts(made, candidate, DType::kF32));
  EXPECT_TRUE(Passes(made, candidate, DType::kF32));
  candidate.Set(50, -infinity);
  EXPECT_FALSE(Accepts(made, candidate, DType::kF32));
  const std::vector<double> doubles(10, 1.0);
  const Case wide = MakeCase(DType::kF32, 10, [](size_t) { return 1.0; });
  Tolerance tolerance = wide.tolerance;
  tolerance.dtype = static_cast<int>(DType::kF64);
  EXPECT_FALSE(*AcceptsQuickly(doubles.data(), doubles.data(), DType::kF64, 10, tolerance, 1));
  EXPECT_FALSE(
      AcceptsQuickly(doubles.data(), doubles.data(), DType::kF16, 10, wide.tolerance, 1).ok());
}

// Errors around the limits, at every magnitude: whatever is accepted passes the full rules.
TEST(AcceptsQuickly, WhatIsAcceptedPassesTheFullRules) {
  std::mt19937_64 rng(17);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(rng);
  };
  int accepted = 0;
  int refused_by_rms_alone = 0;
  for (int round = 0; round < 4000; ++round) {
    const DType dtype = kQuickTypes[rng() % 3];
    const size_t n = 1 + rng() % 3000;
    const double centre = dtype == DType::kF16 ? uniform(-26, 16) : uniform(-150, 128);
    const double spread = rng() % 2 == 0 ? 1 : uniform(0, 40);
    const double specials = rng() % 4 == 0 ? 0.02 : 0;
    const Case made = MakeCase(dtype, n, [&](size_t) {
      if (uniform(0, 1) < specials) {
        const double infinity = std::numeric_limits<double>::infinity();
        const double values[] = {0.0, -0.0, infinity, -infinity, std::nan("")};
        return values[rng() % (rng() % 8 == 0 ? 5 : 4)];
      }
      return uniform(1, 2) * std::exp2(centre + uniform(-spread, spread)) *
             (rng() % 2 == 0 ? 1 : -1);
    });
    Stored candidate = made.baseline;
    const bool by_rms = rng() % 2 == 0;
    const double scale = rng() % 3 == 0 ? 1 + uniform(-1e-6, 1e-6) : uniform(0, 1.3);
    const double share = rng() % 2 == 0 ? 1 : uniform(0, 0.1);
    for (size_t i = 0; i < n; ++i) {
      const double b = made.baseline.Get(i);
      if (!IsFinite(b) || uniform(0, 1) > share) continue;
      const int bucket = BucketOf(b);
      const double inverse = made.tolerance.inv_bucket_rms[bucket];
      const double rms = inverse > 0 ? made.tolerance.rms_multiple / inverse : 0;
      const double tol = ElementTolerance(made.tolerance, b, bucket);
      candidate.Set(i, b + (rng() % 2 == 0 ? 2 : -2) * scale * (by_rms ? rms : tol));
    }
    const bool passes = Passes(made, candidate, dtype);
    const auto full = CompareDirect(made.baseline.data(), candidate.data(), dtype,
                                    static_cast<int64_t>(n), made.tolerance, {});
    refused_by_rms_alone += full->failed_criteria == kFailedRms;
    if (!Accepts(made, candidate, dtype, 2)) continue;
    ++accepted;
    ASSERT_TRUE(passes) << "round " << round << " " << DTypeName(dtype) << " around 2^" << centre;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused_by_rms_alone, 100);
}

TEST(AcceptsQuickly, RandomBitsAreNeverAcceptedAgainstTheRules) {
  std::mt19937_64 rng(23);
  for (int round = 0; round < 500; ++round) {
    const DType dtype = kQuickTypes[rng() % 3];
    const int64_t n = 1 + static_cast<int64_t>(rng() % 500);
    std::vector<uint32_t> baseline(n), candidate(n);
    std::vector<double> truth(n);
    for (int64_t i = 0; i < n; ++i) {
      baseline[i] = static_cast<uint32_t>(rng());
      candidate[i] = baseline[i] ^ (rng() % 4 == 0 ? static_cast<uint32_t>(rng() % 16) : 0);
    }
    LoadDoubles(baseline.data(), dtype, 0, static_cast<int>(n), truth.data());
    ErrorProfile profile = {};
    ASSERT_TRUE(
        AccumulateProfile(truth.data(), baseline.data(), dtype, dtype, n, &profile, nullptr, 1)
            .ok());
    const auto tolerance = BuildTolerance(profile, dtype, DefaultToleranceOptions(dtype));
    ASSERT_TRUE(tolerance.ok());
    if (*AcceptsQuickly(baseline.data(), candidate.data(), dtype, n, *tolerance, 1)) {
      EXPECT_TRUE(
          CompareDirect(baseline.data(), candidate.data(), dtype, n, *tolerance, {})->passed);
    }
  }
}

}  // namespace
}  // namespace davinci::numerics
