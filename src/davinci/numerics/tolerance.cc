#include "davinci/numerics/tolerance.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <string>

#include "davinci/numerics/element_load.h"
#include "davinci/numerics/parallel_blocks.h"
#include "davinci/numerics/simd_clones.h"

namespace davinci::numerics {
namespace {

constexpr int kChunk = 512;
// A rounding error that is uniform within half an ulp has an RMS of 0.289 ulp; the
// tolerance is never below a quarter.
constexpr double kMinRmsUlps = 0.25;

struct Bucket {
  uint64_t count = 0;
  double max_err = 0;
  double sum_sq_err = 0;
};

// Neighbours mostly fall into one bucket; in turns they are added to another copy of it, so that
// none waits for the sum of the one before.
constexpr int kCopies = 4;

struct ProfilePart {
  Bucket buckets[kCopies][kNumBuckets];
  uint64_t num_special = 0;
  uint64_t num_dont_care = 0;
};

void AddSample(ProfilePart& part, int copy, int bucket, double err) {
  Bucket& sum = part.buckets[copy % kCopies][bucket];
  ++sum.count;
  sum.max_err = std::max(sum.max_err, err);
  sum.sum_sq_err += err * err;
}

// Fills buckets[] and errs[] as if every truth were finite; returns whether all truths and honest
// values are.
DV_SIMD_CLONES bool ErrorsOfChunk(const double* truth, const double* honest, int n,
                                  double max_finite, int* buckets, double* errs) {
  unsigned not_finite = 0;
  for (int i = 0; i < n; ++i) {
    not_finite |=
        static_cast<unsigned>(!IsFinite(truth[i])) | static_cast<unsigned>(!IsFinite(honest[i]));
    buckets[i] = BucketOf(truth[i]);
    errs[i] = ElementError(truth[i], honest[i], max_finite);
  }
  return not_finite == 0;
}

void ProfileBlock(const double* truth, const void* honest, DType honest_dtype,
                  const DTypeLimits& limits, int64_t begin, int64_t end, ProfilePart& part,
                  uint8_t* dont_care) {
  double values[kChunk], errs[kChunk];
  int buckets[kChunk];
  for (int64_t at = begin; at < end; at += kChunk) {
    const int n = static_cast<int>(std::min<int64_t>(kChunk, end - at));
    LoadDoubles(honest, honest_dtype, at, n, values);
    if (ErrorsOfChunk(truth + at, values, n, limits.max_finite, buckets, errs)) {
      for (int i = 0; i < n; ++i) AddSample(part, i, buckets[i], errs[i]);
      continue;
    }
    for (int i = 0; i < n; ++i) {
      double err = 0;
      switch (ClassifyHonest(truth[at + i], values[i], limits, &err)) {
        case HonestKind::kSample:
          AddSample(part, i, BucketOf(truth[at + i]), err);
          break;
        case HonestKind::kSpecial:
          ++part.num_special;
          break;
        case HonestKind::kDontCare:
          ++part.num_dont_care;
          if (dont_care != nullptr) dont_care[at + i] |= 1;
          break;
      }
    }
  }
}

struct Pooled {
  double max_err = 0;
  double mean_sq = 0;
  uint64_t count = 0;
};

// Magnitudes only: errors at zero say nothing about a bucket's RMS.
Pooled PoolAround(const ErrorProfile& profile, int bucket) {
  const bool borrowed = profile.count[bucket] == 0;
  Pooled pooled;
  double sum_sq = 0;
  const auto add = [&](int b) {
    if (b < 0 || b >= kZeroBucket || profile.count[b] == 0) return;
    // An error that grows with the magnitude is underestimated by smaller elements.
    const double scale = borrowed && b < bucket ? std::ldexp(1.0, bucket - b) : 1.0;
    pooled.max_err = std::max(pooled.max_err, profile.max_err[b] * scale);
    sum_sq += profile.sum_sq_err[b] * scale * scale;
    pooled.count += profile.count[b];
  };
  add(bucket);
  for (int d = 1; d < kZeroBucket && (d == 1 || pooled.count < kMinPooledSamples); ++d) {
    add(bucket - d);
    add(bucket + d);
  }
  if (pooled.count > 0) {
    pooled.mean_sq = sum_sq / static_cast<double>(pooled.count);
  } else {
    pooled.max_err = profile.max_err[kZeroBucket];
  }
  return pooled;
}

// The zero bucket: whatever its own size, a clamp in front of it hides the error that small results
// have, so the smallest populated magnitudes always count.
Pooled PoolZero(const ErrorProfile& profile) {
  Pooled pooled;
  uint64_t neighbours = 0;
  for (int b = 0; b < kZeroBucket && neighbours < kMinPooledSamples; ++b) {
    neighbours += profile.count[b];
    pooled.max_err = std::max(pooled.max_err, profile.max_err[b]);
  }
  pooled.max_err = std::max(pooled.max_err, profile.max_err[kZeroBucket]);
  pooled.count = neighbours + profile.count[kZeroBucket];
  return pooled;
}

// 2^b of the bucket that holds the median nonzero |truth|; 0 when all are zero.
double MedianScale(const ErrorProfile& profile) {
  uint64_t total = 0;
  for (int b = 0; b < kZeroBucket; ++b) total += profile.count[b];
  uint64_t seen = 0;
  for (int b = 0; b < kZeroBucket; ++b) {
    seen += profile.count[b];
    if (seen > 0 && 2 * seen >= total) return std::ldexp(1.0, b + kMinExponent);
  }
  return 0;
}

// The error to allow for where `honest` was measured (kSerialTerms); `ulp` of the larger of the
// bucket and the median.
double Widened(double honest, double widening, double ulp) {
  return std::max(honest, widening * std::min(honest, kTreeUlps * ulp));
}

// What of `honest` a multiple counts: of the part beyond kCoarse so much less that the multiple of
// half precision remains.
double Counted(double honest, double multiple, double coarse_multiple, double scale) {
  const double coarse = kCoarse * scale;
  if (honest <= coarse || multiple <= coarse_multiple) return honest;
  return coarse + (honest - coarse) * coarse_multiple / multiple;
}

bool Usable(double x) { return std::isfinite(x) && x >= 0; }

}  // namespace

const char* DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return "float16";
    case DType::kBf16:
      return "bfloat16";
    case DType::kF32:
      return "float32";
    case DType::kF64:
      return "float64";
    case DType::kI8:
      return "int8";
    case DType::kU8:
      return "uint8";
    case DType::kI16:
      return "int16";
    case DType::kI32:
      return "int32";
    case DType::kI64:
      return "int64";
    case DType::kBool:
      return "bool";
  }
  return "unknown";
}

int DTypeBytes(DType dtype) {
  switch (dtype) {
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return 1;
    case DType::kF16:
    case DType::kBf16:
    case DType::kI16:
      return 2;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF64:
    case DType::kI64:
      return 8;
  }
  return 0;
}

bool IsFloating(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBf16 || dtype == DType::kF32 ||
         dtype == DType::kF64;
}

Status AccumulateProfile(const double* truth, const void* honest, DType honest_dtype,
                         DType output_dtype, int64_t n, ErrorProfile* profile, uint8_t* dont_care,
                         int num_threads) {
  if (profile == nullptr) return InvalidArgument("AccumulateProfile: no profile to add to");
  if (n < 0 || (n > 0 && (truth == nullptr || honest == nullptr)))
    return InvalidArgument("AccumulateProfile: null data or negative size");
  if (!IsFloating(honest_dtype) || !IsFloating(output_dtype))
    return InvalidArgument("AccumulateProfile: error profiles exist for floating-point types only");
  const DTypeLimits limits = LimitsOf(output_dtype);
  const BlockPlan plan = PlanBlocks(n, 1 << 16);
  std::unique_ptr<ProfilePart[]> parts(new (std::nothrow) ProfilePart[plan.num_blocks]);
  if (parts == nullptr) return ResourceExhausted("AccumulateProfile: no memory for partial sums");
  ForEachBlock(plan, num_threads, [&](int block, int64_t begin, int64_t end) {
    ProfileBlock(truth, honest, honest_dtype, limits, begin, end, parts[block], dont_care);
  });
  for (int block = 0; block < plan.num_blocks; ++block) {
    const ProfilePart& part = parts[block];
    for (const auto& copy : part.buckets)
      for (int b = 0; b < kNumBuckets; ++b) {
        profile->count[b] += copy[b].count;
        profile->max_err[b] = std::max(profile->max_err[b], copy[b].max_err);
        profile->sum_sq_err[b] += copy[b].sum_sq_err;
      }
    profile->num_special += part.num_special;
    profile->num_dont_care += part.num_dont_care;
  }
  return Status::Ok();
}

uint64_t NumSamples(const ErrorProfile& profile) {
  uint64_t total = 0;
  for (const u64 count : profile.count) total += count;
  return total;
}

bool ProfileIsThin(const ErrorProfile& profile) { return NumSamples(profile) < kMinPooledSamples; }

ToleranceOptions DefaultToleranceOptions(DType output_dtype) {
  if (output_dtype == DType::kF16 || output_dtype == DType::kBf16)
    return {.multiple = 8, .rms_multiple = 4, .floor_ulps = 2, .scale_floor_ulps = 0.5, .terms = 1};
  return {.multiple = 128, .rms_multiple = 128, .floor_ulps = 4, .scale_floor_ulps = 8, .terms = 1};
}

Result<Tolerance> BuildTolerance(const ErrorProfile& profile, DType output_dtype,
                                 const ToleranceOptions& options) {
  if (!IsFloating(output_dtype))
    return InvalidArgument(std::string("BuildTolerance: ") + DTypeName(output_dtype) +
                           " is compared exactly");
  if (!Usable(options.multiple) || !Usable(options.rms_multiple) || !Usable(options.floor_ulps) ||
      !Usable(options.scale_floor_ulps) || !Usable(options.terms) || !Usable(options.spread))
    return InvalidArgument("BuildTolerance: options must be finite and not negative");
  const uint64_t num_samples = NumSamples(profile);
  if (num_samples == 0 && profile.num_special == 0 && profile.num_dont_care == 0)
    return InvalidArgument(
        "BuildTolerance: the profile is empty; accumulate at least one honest variant");

  const DTypeLimits limits = LimitsOf(output_dtype);
  const double median_scale = MedianScale(profile);
  const double absolute_floor =
      std::max(limits.flush, options.scale_floor_ulps * limits.eps * median_scale);
  const bool thin = ProfileIsThin(profile);
  const bool wide_type = output_dtype == DType::kF32 || output_dtype == DType::kF64;
  const double serial_terms = thin ? kSerialTerms / 4 : kSerialTerms;
  const double widening =
      wide_type ? std::clamp(std::sqrt(options.terms / serial_terms), 1.0, kMaxWidening) : 1.0;

  const double per_root = options.spread > 0 ? kLoopUlpsOfMagnitudes : kLoopUlps;
  const double loop_ulps = wide_type && options.terms >= kLoopTerms
                               ? per_root * std::sqrt(std::min(options.terms, kMostLoopTerms))
                               : 0.0;

  const ToleranceOptions coarse = DefaultToleranceOptions(DType::kBf16);

  Tolerance tolerance = {};
  for (int b = 0; b < kNumBuckets; ++b) {
    const bool zero = b == kZeroBucket;
    const Pooled pooled = zero ? PoolZero(profile) : PoolAround(profile, b);
    const double ulp = zero ? 0.0 : limits.eps * std::ldexp(1.0, b + kMinExponent);
    const double scale_ulp = std::max(ulp, limits.eps * median_scale);
    const double scale = scale_ulp / limits.eps;
    const double honest =
        Counted(Widened(std::max(pooled.max_err, thin ? 0.5 * ulp : 0.0), widening, scale_ulp),
                options.multiple, coarse.multiple, scale);
    tolerance.bucket_tol[b] = std::min(options.multiple * honest + absolute_floor, 0x1p1023);
    if (zero) continue;
    const double measured = std::max({std::sqrt(pooled.mean_sq), (thin ? 0.5 : kMinRmsUlps) * ulp,
                                      kMinRmsUlps * limits.eps * median_scale, limits.flush,
                                      loop_ulps * ulp / options.rms_multiple});
    const double rms = Counted(Widened(measured, widening, scale_ulp), options.rms_multiple,
                               coarse.rms_multiple, scale);
    tolerance.inv_bucket_rms[b] = std::isfinite(rms) ? 1.0 / rms : 0.0;
  }
  tolerance.rel_floor = std::max(options.floor_ulps, loop_ulps) * limits.eps;
  tolerance.max_finite = limits.max_finite;
  // A mean over a handful of elements is no average; the test on single elements decides there.
  tolerance.rms_multiple =
      thin ? std::max(options.rms_multiple, options.multiple) : options.rms_multiple;
  tolerance.num_samples = num_samples;
  tolerance.dtype = static_cast<int>(output_dtype);
  return tolerance;
}

Tolerance WidenTolerance(const Tolerance& tolerance, double factor) {
  Tolerance wide = tolerance;
  for (double& tol : wide.bucket_tol) tol = std::min(tol * factor, 0x1p1023);
  wide.rel_floor *= factor;
  wide.rms_multiple *= factor;
  return wide;
}

}  // namespace davinci::numerics
