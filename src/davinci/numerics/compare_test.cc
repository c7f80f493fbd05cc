#include "davinci/numerics/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "davinci/numerics/element_load.h"

namespace davinci::numerics {
namespace {

constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// An "elementwise" task: honest = truth rounded to fp32.
struct Rounded {
  std::vector<double> truth;
  std::vector<float> honest;
  ErrorProfile profile = {};
  Tolerance tolerance = {};

  explicit Rounded(int64_t n, uint64_t seed = 1) : truth(n), honest(n) {
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < n; ++i) {
      truth[i] = normal(rng);
      honest[i] = static_cast<float>(truth[i]);
    }
    Rebuild();
  }
  void Rebuild() {
    profile = {};
    EXPECT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kF32,
                                  std::ssize(truth), &profile, nullptr, 1)
                    .ok());
    auto built = BuildTolerance(profile, DType::kF32, DefaultToleranceOptions(DType::kF32));
    EXPECT_TRUE(built.ok());
    tolerance = *built;
  }
  CompareResult Judge(const std::vector<float>& candidate, int threads = 1) const {
    auto result = Compare(truth.data(), candidate.data(), DType::kF32, std::ssize(truth), tolerance,
                          {.num_threads = threads});
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return *result;
  }
};

TEST(BuildTolerance, IsTheMultipleOfThePooledErrorPlusTheFloors) {
  // 40 samples in binade 0 with error 1e-7, 40 in binade 1 with error 3e-7, 40 in binade 5 with
  // error 1e-4.
  ErrorProfile profile = {};
  const auto set = [&](int exponent, u64 count, double err) {
    const int b = exponent - kMinExponent;
    profile.count[b] = count;
    profile.max_err[b] = err;
    profile.sum_sq_err[b] = static_cast<double>(count) * err * err;
  };
  set(0, 40, 1e-7);
  set(1, 40, 3e-7);
  set(5, 40, 1e-4);
  const ToleranceOptions options{
      .multiple = 10, .rms_multiple = 2, .floor_ulps = 4, .scale_floor_ulps = 8};
  const auto built = BuildTolerance(profile, DType::kF32, options);
  ASSERT_TRUE(built.ok());
  // The median of the 120 magnitudes lies in binade 1; the absolute floor is 8 ulps of 2^1.
  const double floor = 8 * 0x1p-23 * 2;
  EXPECT_DOUBLE_EQ(built->bucket_tol[0 - kMinExponent],
                   10 * 3e-7 + floor);  // neighbour 1 is pooled
  EXPECT_DOUBLE_EQ(built->bucket_tol[1 - kMinExponent], 10 * 3e-7 + floor);
  EXPECT_DOUBLE_EQ(built->bucket_tol[5 - kMinExponent], 10 * 1e-4 + floor);
  // Binade 3 is empty and borrows at distance 2 from both sides; binade 1's error grows by 2^2.
  EXPECT_DOUBLE_EQ(built->bucket_tol[3 - kMinExponent], 10 * 1e-4 + floor);
  // Binade 7 borrows from 5 only, scaled by 2^2; binade -9 borrows from 0 unscaled.
  EXPECT_DOUBLE_EQ(built->bucket_tol[7 - kMinExponent], 10 * 4e-4 + floor);
  EXPECT_DOUBLE_EQ(built->bucket_tol[-9 - kMinExponent], 10 * 1e-7 + floor);
  EXPECT_DOUBLE_EQ(built->bucket_tol[kZeroBucket], 10 * 1e-7 + floor);
  EXPECT_DOUBLE_EQ(built->rel_floor, 4 * 0x1p-23);
  // Pooled RMS of binades 0 and 1: sqrt((1e-14 + 9e-14) / 2).
  EXPECT_NEAR(1 / built->inv_bucket_rms[0 - kMinExponent], std::sqrt(5e-14), 1e-20);
}

TEST(BuildTolerance, ErrorsOfHalfPrecisionCountWithItsMultiples) {
  // Half precision inside an fp32 task: errors of 2 % of the numbers, which 128 times is all of
  // them.
  Rounded task(64000);
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < task.honest.size(); ++i)
    task.honest[i] = static_cast<float>(task.truth[i] + 0.02 * normal(rng));
  task.Rebuild();
  std::vector<float> other = task.honest;
  for (size_t i = 0; i < other.size(); ++i)
    other[i] = static_cast<float>(task.truth[i] + 0.03 * normal(rng));
  EXPECT_TRUE(task.Judge(other).passed);
  const CompareResult zeros = task.Judge(std::vector<float>(other.size()));
  EXPECT_FALSE(zeros.passed);
  EXPECT_GT(zeros.num_wrong, 10000);
}

TEST(BuildTolerance, WidensUntilItRestsOnEnoughSamples) {
  ErrorProfile profile = {};
  profile.count[0 - kMinExponent] = 3;
  profile.max_err[0 - kMinExponent] = 1e-6;
  profile.count[4 - kMinExponent] = 100;
  profile.max_err[4 - kMinExponent] = 1e-2;
  const auto built =
      BuildTolerance(profile, DType::kF32,
                     {.multiple = 1, .rms_multiple = 1, .floor_ulps = 0, .scale_floor_ulps = 0});
  ASSERT_TRUE(built.ok());
  EXPECT_NEAR(built->bucket_tol[0 - kMinExponent], 1e-2, 1e-12);
}

TEST(BuildTolerance, RefusesWhatMakesNoSense) {
  ErrorProfile profile = {};
  const ToleranceOptions options = DefaultToleranceOptions(DType::kF32);
  EXPECT_FALSE(BuildTolerance(profile, DType::kF32, options).ok());
  profile.count[kZeroBucket] = 1;
  EXPECT_TRUE(BuildTolerance(profile, DType::kF32, options).ok());
  EXPECT_FALSE(BuildTolerance(profile, DType::kI32, options).ok());
  ToleranceOptions negative = options;
  negative.multiple = -1;
  EXPECT_FALSE(BuildTolerance(profile, DType::kF32, negative).ok());
  negative.multiple = kNan;
  EXPECT_FALSE(BuildTolerance(profile, DType::kF32, negative).ok());
}

TEST(Compare, TheHonestImplementationItselfPassesWithRoomToSpare) {
  const Rounded task(10000);
  const CompareResult r = task.Judge(task.honest);
  EXPECT_TRUE(r.passed);
  EXPECT_LE(r.max_ratio, 1.0 / 64);
  // Below 1 because a bucket is pooled with its neighbours and the larger one dominates.
  EXPECT_GT(r.rms_ratio, 0.5);
  EXPECT_LE(r.rms_ratio, 1.0);
  EXPECT_EQ(r.num_wrong, 0);
  EXPECT_EQ(r.first_wrong_index, -1);
}

TEST(Compare, AFewUlpsOfFastMathPass) {
  const Rounded task(10000);
  std::vector<float> candidate = task.honest;
  std::mt19937 rng(3);
  for (float& x : candidate)
    x *= 1.0f + static_cast<float>(static_cast<int>(rng() % 9) - 4) * 0x1p-23f;
  EXPECT_TRUE(task.Judge(candidate).passed);
}

TEST(Compare, OneWrongTailElementIsFoundAndNamed) {
  const Rounded task(100003);
  for (const float garbage : {0.0f, kNanF, kInfF, -1e30f}) {
    std::vector<float> candidate = task.honest;
    candidate[100002] = garbage;
    const CompareResult r = task.Judge(candidate, 2);
    EXPECT_FALSE(r.passed);
    EXPECT_EQ(r.num_wrong, 1);
    EXPECT_EQ(r.first_wrong_index, 100002);
    EXPECT_EQ(r.worst_index, 100002);
    EXPECT_EQ(r.worst_truth, task.truth[100002]);
    EXPECT_EQ(r.num_unexpected_nan, std::isnan(garbage) ? 1 : 0);
    EXPECT_NE(
        DescribeResult(r, DType::kF32).find("1 of 100003 float32 elements wrong; first at 100002"),
        std::string::npos);
  }
}

TEST(Compare, ADroppedTinyBiasIsFound) {
  Rounded task(4096);
  const float bias = 1e-4f;  // 1/10,000 of the typical output
  std::vector<float> without = task.honest;
  for (int64_t i = 0; i < std::ssize(task.truth); ++i) {
    task.truth[i] += static_cast<double>(bias);
    task.honest[i] = static_cast<float>(task.truth[i]);
  }
  task.Rebuild();
  const CompareResult r = task.Judge(without);
  EXPECT_FALSE(r.passed);
  EXPECT_GT(r.num_wrong, 4000);
}

TEST(Compare, AClampMayFlipAroundZeroButNotFurther) {
  // relu(s): truth 0 wherever s < 0, honest errors of 1e-7 in s show up only where s > 0.
  Rounded task(4096);
  for (int64_t i = 0; i < std::ssize(task.truth); ++i) {
    task.truth[i] = std::max(task.truth[i], 0.0);
    task.honest[i] = task.truth[i] > 0 ? static_cast<float>(task.truth[i]) : 0.0f;
  }
  task.Rebuild();
  const auto zero = std::find(task.truth.begin(), task.truth.end(), 0.0) - task.truth.begin();
  std::vector<float> candidate = task.honest;
  candidate[zero] = 5e-8f;
  EXPECT_TRUE(task.Judge(candidate).passed);
  candidate[zero] = 1e-4f;
  EXPECT_FALSE(task.Judge(candidate).passed);
}

TEST(Compare, CatchesEveryLowPrecisionElementOfAHeavyTailedOutput) {
  // 1 % of the outputs are 10^6 times larger: an unnormalised RMS would see only those.
  Rounded task(20000);
  for (int64_t i = 0; i < std::ssize(task.truth); i += 100) {
    task.truth[i] *= 1e6;
    task.honest[i] = static_cast<float>(task.truth[i]);
  }
  task.Rebuild();
  std::vector<float> candidate = task.honest;
  for (int64_t i = 0; i < std::ssize(task.truth); ++i)
    if (i % 100 != 0) candidate[i] *= 1.0f + 0x1p-12f;
  const CompareResult r = task.Judge(candidate);
  EXPECT_GT(r.num_wrong, 19000);
  EXPECT_GT(r.rms_ratio, r.rms_limit);
}

TEST(Compare, RmsCatchesWhatEveryElementAloneIsForgiven) {
  // The honest implementation is rarely much worse (a step that flips), so single elements have a
  // wide tolerance.
  Rounded task(64000);
  for (int64_t i = 0; i < std::ssize(task.truth); ++i) {
    task.truth[i] = 1.0 + static_cast<double>(i) / 64000;
    task.honest[i] = static_cast<float>(task.truth[i]) + (i % 2000 == 0 ? 0.01f : 0.0f);
  }
  task.Rebuild();
  std::vector<float> candidate = task.honest;
  for (float& x : candidate) x += 0.1f;
  const CompareResult r = task.Judge(candidate);
  EXPECT_EQ(r.num_wrong, 0);
  EXPECT_FALSE(r.passed);
  EXPECT_EQ(r.failed_criteria, kFailedRms);
}

TEST(Compare, SpecialsAndDontCareAreCounted) {
  std::vector<double> truth(64, 1.0);
  std::vector<float> honest(64, 1.0f);
  truth[0] = kNan, honest[0] = kNanF;
  truth[1] = kInf, honest[1] = kInfF;
  truth[2] = 3.0, honest[2] = kInfF;   // fp32 overflowed inside
  truth[3] = 1e39, honest[3] = kInfF;  // fp32 cannot hold it
  ErrorProfile profile = {};
  std::vector<uint8_t> dont_care(64, 0);
  ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kF32, 64, &profile,
                                dont_care.data(), 1)
                  .ok());
  EXPECT_EQ(profile.num_special, 2u);
  EXPECT_EQ(profile.num_dont_care, 1u);
  EXPECT_EQ(dont_care[2], 1);
  const auto tolerance = BuildTolerance(profile, DType::kF32, DefaultToleranceOptions(DType::kF32));
  ASSERT_TRUE(tolerance.ok());
  const CompareOptions options{.dont_care = dont_care.data()};

  auto r = Compare(truth.data(), honest.data(), DType::kF32, 64, *tolerance, options);
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->passed) << DescribeResult(*r, DType::kF32);
  EXPECT_EQ(r->num_special_match, 2);
  EXPECT_EQ(r->num_dont_care, 1);
  EXPECT_EQ(r->num_nan_truth, 1);
  EXPECT_EQ(r->num_nan_candidate, 1);
  EXPECT_EQ(r->num_unexpected_nan, 0);

  std::vector<float> cleaned = honest;  // nan_to_num
  cleaned[0] = 0;
  r = Compare(truth.data(), cleaned.data(), DType::kF32, 64, *tolerance, options);
  EXPECT_FALSE(r->passed);
  EXPECT_EQ(r->first_wrong_index, 0);
}

TEST(Compare, NothingVerifiedIsNotAPass) {
  std::vector<double> truth(100, 1.0);
  std::vector<float> honest(100, kNanF);
  ErrorProfile profile = {};
  std::vector<uint8_t> dont_care(100, 0);
  ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kF32, 100,
                                &profile, dont_care.data(), 1)
                  .ok());
  const auto tolerance = BuildTolerance(profile, DType::kF32, DefaultToleranceOptions(DType::kF32));
  ASSERT_TRUE(tolerance.ok());
  const auto r = Compare(truth.data(), honest.data(), DType::kF32, 100, *tolerance,
                         {.dont_care = dont_care.data()});
  EXPECT_FALSE(r->passed);
  EXPECT_EQ(r->failed_criteria, kFailedUnverified);
}

TEST(Compare, TheResultDoesNotDependOnTheNumberOfThreads) {
  const Rounded task(300000);
  std::vector<float> candidate = task.honest;
  std::mt19937 rng(5);
  for (int i = 0; i < 50; ++i) candidate[rng() % candidate.size()] *= 1.001f;
  const CompareResult one = task.Judge(candidate, 1);
  const CompareResult four = task.Judge(candidate, 4);
  EXPECT_EQ(std::memcmp(&one, &four, sizeof(one)), 0);
  EXPECT_GT(one.num_wrong, 0);
}

TEST(Compare, FastAndSlowPathAgree) {
  // A don't-care byte sends its chunk through the element-by-element path; everything else must
  // come out alike.
  const Rounded task(2000);
  std::vector<float> candidate = task.honest;
  for (size_t i = 0; i < candidate.size(); i += 7)
    candidate[i] *= 1.0f + static_cast<float>(i) * 1e-6f;
  candidate[1234] = kNanF;
  candidate[0] = static_cast<float>(task.truth[0]);
  const CompareResult fast = task.Judge(candidate);
  std::vector<uint8_t> dont_care(2000, 0);
  for (int i = 0; i < 2000; i += 500) dont_care[i] = 1;
  const auto slow = Compare(task.truth.data(), candidate.data(), DType::kF32, 2000, task.tolerance,
                            {.dont_care = dont_care.data()});
  int64_t skipped_wrong = 0;
  for (int i = 0; i < 2000; i += 500) {
    skipped_wrong +=
        JudgeElement(task.tolerance, task.truth[i], static_cast<double>(candidate[i]), false).wrong;
  }
  EXPECT_EQ(slow->num_wrong + skipped_wrong, fast.num_wrong);
  EXPECT_EQ(slow->num_dont_care, 4);
  EXPECT_EQ(slow->worst_index, fast.worst_index);
  EXPECT_EQ(slow->num_unexpected_nan, 1);
  int64_t total = 0;
  for (const int64_t bin : slow->ratio_histogram) total += bin;
  EXPECT_EQ(total, 1996);
}

TEST(Compare, CallersMistakesAreStatuses) {
  const Rounded task(64);
  EXPECT_FALSE(Compare(nullptr, task.honest.data(), DType::kF32, 64, task.tolerance, {}).ok());
  EXPECT_FALSE(
      Compare(task.truth.data(), task.honest.data(), DType::kF16, 64, task.tolerance, {}).ok());
  EXPECT_FALSE(
      Compare(task.truth.data(), task.honest.data(), DType::kI32, 64, task.tolerance, {}).ok());
  EXPECT_FALSE(
      Compare(task.truth.data(), task.honest.data(), DType::kF32, -1, task.tolerance, {}).ok());
  const auto empty = Compare(nullptr, nullptr, DType::kF32, 0, task.tolerance, {});
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->passed);
}

TEST(CompareDirect, TwoHonestImplementationsAgreeAndAWrongOneDoesNot) {
  const Rounded task(5000);
  std::vector<float> other = task.honest;
  for (size_t i = 0; i < other.size(); ++i)
    other[i] *= i % 2 == 0 ? 1.0f + 0x1p-22f : 1.0f - 0x1p-22f;
  auto r = CompareDirect(task.honest.data(), other.data(), DType::kF32, 5000, task.tolerance, {});
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->passed);
  other[77] = task.honest[78];
  r = CompareDirect(task.honest.data(), other.data(), DType::kF32, 5000, task.tolerance, {});
  EXPECT_FALSE(r->passed);
  EXPECT_EQ(r->first_wrong_index, 77);
}

TEST(CompareDirect, HalfPrecisionBuffersAreReadAsStored) {
  const std::vector<u16> ones(64, 0x3c00);
  std::vector<u16> other = ones;
  std::vector<double> truth(64, 1.0);
  ErrorProfile profile = {};
  ASSERT_TRUE(AccumulateProfile(truth.data(), ones.data(), DType::kF16, DType::kF16, 64, &profile,
                                nullptr, 1)
                  .ok());
  const auto tolerance = BuildTolerance(profile, DType::kF16, DefaultToleranceOptions(DType::kF16));
  ASSERT_TRUE(tolerance.ok());
  other[5] = 0x3c01;  // one ulp
  EXPECT_TRUE(CompareDirect(ones.data(), other.data(), DType::kF16, 64, *tolerance, {})->passed);
  other[5] = 0x3c40;
  EXPECT_FALSE(CompareDirect(ones.data(), other.data(), DType::kF16, 64, *tolerance, {})->passed);
}

TEST(CompareIntegers, AreExactUnlessAnHonestVariantSaysTheSame) {
  const std::vector<int64_t> truth = {1, 2, 3, -4};
  const std::vector<int32_t> tie = {1, 7, 3, -4};
  std::vector<int32_t> candidate = {1, 7, 3, -4};
  const void* variants[] = {tie.data()};
  EXPECT_FALSE(
      CompareIntegers(truth.data(), nullptr, 0, candidate.data(), DType::kI32, 4, 0, 1)->passed);
  EXPECT_TRUE(
      CompareIntegers(truth.data(), variants, 1, candidate.data(), DType::kI32, 4, 0, 1)->passed);
  candidate[3] = 4;
  const auto r = CompareIntegers(truth.data(), variants, 1, candidate.data(), DType::kI32, 4, 0, 1);
  EXPECT_FALSE(r->passed);
  EXPECT_EQ(r->first_wrong_index, 3);
  EXPECT_EQ(r->worst_err, 8);
  EXPECT_EQ(r->worst_truth, -4);
  EXPECT_EQ(r->worst_candidate, 4);
  EXPECT_TRUE(CompareIntegers(truth.data(), variants, 1, candidate.data(), DType::kI32, 4, 0.25, 1)
                  ->passed);
}

TEST(CompareIntegers, EveryTypeIsReadAsStored) {
  const std::vector<int64_t> truth = {0, 1, 1, 0};
  const uint8_t bools[] = {0, 1, 1, 0};
  uint8_t odd[] = {0, 1, 255, 0};
  EXPECT_TRUE(CompareIntegers(truth.data(), nullptr, 0, bools, DType::kBool, 4, 0, 1)->passed);
  EXPECT_FALSE(CompareIntegers(truth.data(), nullptr, 0, odd, DType::kBool, 4, 0, 1)->passed);
  EXPECT_FALSE(CompareIntegersDirect(odd, odd, DType::kBool, 4, 0, 1)->passed);
  const int64_t extremes[] = {std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()};
  const int64_t swapped[] = {extremes[1], extremes[0]};
  EXPECT_TRUE(CompareIntegersDirect(extremes, extremes, DType::kI64, 2, 0, 1)->passed);
  EXPECT_EQ(CompareIntegersDirect(extremes, swapped, DType::kI64, 2, 0, 1)->worst_err, 0x1p64);
  const std::vector<int64_t> signed_truth = {-1, 127};
  const int8_t i8[] = {-1, 127};
  const int16_t i16[] = {-1, 127};
  const uint8_t u8_values[] = {255, 127};
  EXPECT_TRUE(CompareIntegers(signed_truth.data(), nullptr, 0, i8, DType::kI8, 2, 0, 1)->passed);
  EXPECT_TRUE(CompareIntegers(signed_truth.data(), nullptr, 0, i16, DType::kI16, 2, 0, 1)->passed);
  EXPECT_FALSE(
      CompareIntegers(signed_truth.data(), nullptr, 0, u8_values, DType::kU8, 2, 0, 1)->passed);
  EXPECT_FALSE(CompareIntegers(truth.data(), nullptr, 0, bools, DType::kF32, 4, 0, 1).ok());
}

TEST(Compare, SmallMagnitudesAreJudgedByTheirOwnErrors) {
  // Everything around 1e-30: a table that ended at 2^-64 would call zeros correct.
  std::mt19937_64 rng(2);
  std::normal_distribution<double> normal;
  std::vector<double> truth(4096);
  std::vector<float> honest(4096), zeros(4096, 0.0f);
  for (int i = 0; i < 4096; ++i)
    truth[i] = 1e-30 * normal(rng), honest[i] = static_cast<float>(truth[i]);
  ErrorProfile profile = {};
  ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kF32, 4096,
                                &profile, nullptr, 1)
                  .ok());
  const auto tolerance = BuildTolerance(profile, DType::kF32, DefaultToleranceOptions(DType::kF32));
  EXPECT_TRUE(Compare(truth.data(), honest.data(), DType::kF32, 4096, *tolerance, {})->passed);
  EXPECT_GT(Compare(truth.data(), zeros.data(), DType::kF32, 4096, *tolerance, {})->num_wrong,
            4000);
}

// Random bits as truth, honest and candidate: no crash, and the counts add up. With asan/ubsan this
// is the fuzz smoke.
TEST(CompareFuzz, RandomBitsKeepTheInvariants) {
  std::mt19937_64 rng(99);
  for (int round = 0; round < 300; ++round) {
    const auto dtype = static_cast<DType>(rng() % 4);
    const int64_t n = static_cast<int64_t>(rng() % 1500);
    std::vector<double> truth(n);
    std::vector<uint64_t> honest(n + 1), candidate(n + 1);
    std::vector<uint8_t> dont_care(n, 0);
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t bits = rng();
      std::memcpy(&truth[i], &bits, 8);
      honest[i] = rng();
      candidate[i] = rng() % 3 == 0 ? honest[i] : rng();
    }
    ErrorProfile profile = {};
    ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), dtype, dtype, n, &profile,
                                  dont_care.data(), 2)
                    .ok());
    EXPECT_EQ(
        static_cast<int64_t>(NumSamples(profile) + profile.num_special + profile.num_dont_care), n);
    const auto tolerance = BuildTolerance(profile, dtype, DefaultToleranceOptions(dtype));
    if (!tolerance.ok()) continue;
    const auto r = Compare(truth.data(), candidate.data(), dtype, n, *tolerance,
                           {.dont_care = dont_care.data(), .num_threads = 2});
    ASSERT_TRUE(r.ok());
    int64_t compared = 0;
    for (const int64_t bin : r->ratio_histogram) compared += bin;
    EXPECT_EQ(compared + r->num_dont_care + r->num_special_match, n);
    EXPECT_EQ(r->num_wrong > 0, r->first_wrong_index >= 0);
    EXPECT_FALSE(r->num_wrong > 0 && r->passed);
    const auto direct = CompareDirect(honest.data(), candidate.data(), dtype, n, *tolerance, {});
    ASSERT_TRUE(direct.ok());
    EXPECT_FALSE(direct->num_wrong > 0 && direct->passed);
    EXPECT_FALSE(DescribeResult(*r, dtype).empty());
  }
}

// Host and device must report the same number for it: infinity, or nothing where the truth is zero.
TEST(Rms, ANotANumberIsInfinitelyWrongAndZerosAreLeftOut) {
  const int n = 4096;
  std::vector<double> truth(n, 1.5);
  truth[7] = 0;
  std::vector<float> honest(truth.begin(), truth.end());
  ErrorProfile profile = {};
  ASSERT_TRUE(AccumulateProfile(truth.data(), honest.data(), DType::kF32, DType::kF32, n, &profile,
                                nullptr, 1)
                  .ok());
  const Tolerance tolerance =
      *BuildTolerance(profile, DType::kF32, DefaultToleranceOptions(DType::kF32));
  std::vector<float> candidate = honest;
  candidate[7] = std::nanf("");
  CompareResult r = *Compare(truth.data(), candidate.data(), DType::kF32, n, tolerance, {});
  EXPECT_EQ(r.rms_ratio, 0);
  EXPECT_EQ(r.num_wrong, 1);
  EXPECT_FALSE(r.passed);
  candidate[8] = std::nanf("");
  r = *Compare(truth.data(), candidate.data(), DType::kF32, n, tolerance, {});
  EXPECT_TRUE(std::isinf(r.rms_ratio));
  // The same through the path for chunks with special truths.
  truth[100] = std::numeric_limits<double>::infinity();
  candidate[100] = std::numeric_limits<float>::infinity();
  r = *Compare(truth.data(), candidate.data(), DType::kF32, n, tolerance, {});
  EXPECT_TRUE(std::isinf(r.rms_ratio));
}

}  // namespace
}  // namespace davinci::numerics
