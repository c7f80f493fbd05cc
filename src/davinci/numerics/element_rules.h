// The rules of comparison, one element at a time: what "the candidate is as good as an honest
// implementation" means.
//
// The same text is compiled as host C++20 (compare.cc, tolerance.cc) and as device code by NVRTC,
// so this header uses no standard library, no allocation and no global state. Everything is a plain
// struct or a pure function.
//
// The idea
// --------
// `truth` is the reference evaluated in fp64. `honest` is the reference (or a rearrangement of it)
// evaluated in the task's precision. The honest error depends on the conditioning of the task: a
// long signed sum is wrong by much more than an ulp of its result, a ReLU by nothing. So nothing is
// guessed: the honest error is measured per binade of |truth| and a candidate may be wrong by a
// stated multiple of it.
//
//   tol(i)   = multiple * pooled_max_err[bucket(t_i)] + floor_ulps * eps * |t_i| + absolute floor
//   wrong(i) = !(|c_i - t_i| <= tol(i))                        so that a NaN is wrong
//   rms      = sqrt(mean_i((|c_i - t_i| / honest_rms[bucket(t_i)])^2)), at most rms_multiple
//
// Why it is built like this
//  - Buckets are binades of |truth| from 2^-160 to 2^159: all of fp32, subnormals included. What
//    lies beyond is clamped into the outer ones. A narrower range would pool 1e-20 with 1e-38 and
//    leave tiny outputs unchecked.
//  - A bucket is pooled with its neighbours on both sides, and further until it rests on
//    kMinPooledSamples honest samples: the maximum of three samples says nothing.
//  - The floor is relative to the element, not to its binade: the same at 1e-30 and at 1e30.
//  - The absolute floor is the larger of what flush-to-zero costs and of `scale_floor_ulps` ulps of
//    the median nonzero |truth|: x*(1+erf(x))/2 loses all relative accuracy in the left tail of
//    GELU and is still a correct kernel. The median, not the mean square, so that one huge element
//    cannot excuse all the others.
//  - The RMS test is normalised by the honest RMS of each bucket. An unnormalised one is decided by
//    the few largest elements of a heavy-tailed output; it does not see low precision in the rest
//    and does not forgive an unlucky large one.
//  - truth == 0 has its own bucket, pooled with the smallest magnitudes: a clamp in front of it
//    hides the error that was there before.
//  - A bucket without samples of its own, which only happens when a profile is reused for other
//    inputs, borrows from its neighbours; errors of smaller magnitudes are scaled up by the
//    distance, errors of larger ones are taken as they are.
//
// Special values
//  - truth NaN: the candidate must be NaN. truth +-Inf: the same infinity.
//  - |truth| above the largest finite value of the output type, or so near that rounding may
//    overflow: both are clamped to the finite range and compared there, so Inf and "at least max"
//    are accepted alike.
//  - Where an honest implementation disagrees with the truth about being finite (fp32 overflows
//    inside, fp64 does not) nothing can be demanded: the profile marks the element "don't care"; it
//    is counted, not judged.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DV_RULE __host__ __device__ __forceinline__
#else
#define DV_RULE inline __attribute__((always_inline))
#endif

namespace davinci::numerics {

using u8 = unsigned char;
using u16 = unsigned short;  // NOLINT
using u32 = unsigned int;
using u64 = unsigned long long;  // NOLINT
using i64 = long long;           // NOLINT
static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8, "unexpected data model");

// The numbers are part of the C ABI (worker_abi.h) and never change.
enum class DType : int {
  kF16 = 0,
  kBf16 = 1,
  kF32 = 2,
  kF64 = 3,
  kI8 = 4,
  kU8 = 5,
  kI16 = 6,
  kI32 = 7,
  kI64 = 8,
  kBool = 9,
};
constexpr int kNumDTypes = 10;

constexpr int kMinExponent = -160;
constexpr int kMaxExponent = 159;
constexpr int kZeroBucket = kMaxExponent - kMinExponent + 1;  // 320
constexpr int kNumBuckets = kZeroBucket + 1;                  // 321
constexpr u64 kMinPooledSamples = 32;

// Upper edges of the bins of err/tol; the last bin holds everything above (infinite ratios and NaN
// included).
constexpr int kNumRatioBins = 10;

DV_RULE double RatioEdge(int i) {
  constexpr double kEdges[kNumRatioBins - 1] = {1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4};
  return kEdges[i];
}

// What honest implementations got wrong, per bucket of |truth|. Zero-initialised = empty. Profiles
// of several honest variants and of several draws may be accumulated into one.
struct ErrorProfile {
  u64 count[kNumBuckets];
  double max_err[kNumBuckets];
  double sum_sq_err[kNumBuckets];
  u64 num_special;    // truth NaN or Inf, matched by the honest implementation
  u64 num_dont_care;  // the honest implementation disagreed with the truth about finiteness
};

// A profile turned into limits; made by BuildTolerance (tolerance.h), read by every comparison.
struct Tolerance {
  double bucket_tol[kNumBuckets];      // multiple * pooled max_err + absolute floor
  double inv_bucket_rms[kNumBuckets];  // 1 / honest RMS error; 0 for the zero bucket, which the RMS
                                       // test leaves out
  double rel_floor;                    // floor_ulps * eps, times |truth|
  double max_finite;                   // of the output type
  double rms_multiple;                 // the RMS test's limit
  u64 num_samples;                     // honest samples it rests on
  int dtype;                           // DType of the output
  int reserved;
};

struct DTypeLimits {
  double eps;  // distance from 1 to the next value
  double max_finite;
  double flush;  // error that an implementation without subnormals may make near zero
};

DV_RULE DTypeLimits LimitsOf(DType dtype) {
  switch (dtype) {
    // Hardware keeps fp16 subnormals everywhere, so only one subnormal step is forgiven there.
    case DType::kF16:
      return {0x1p-10, 65504.0, 0x1p-24};
    case DType::kBf16:
      return {0x1p-7, 0x1.fep127, 0x1p-126};
    case DType::kF32:
      return {0x1p-23, 0x1.fffffep127, 0x1p-126};
    default:
      return {0x1p-52, 0x1.fffffffffffffp1023, 0x1p-1022};
  }
}

DV_RULE u64 BitsOf(double x) {
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
  return static_cast<u64>(__double_as_longlong(x));
#else
  return __builtin_bit_cast(u64, x);
#endif
}

DV_RULE float FloatOfBits(u32 bits) {
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
  return __uint_as_float(bits);
#else
  return __builtin_bit_cast(float, bits);
#endif
}

// Exact, for every pattern; subnormals do not pass through a subnormal float, so flush modes of the
// caller do not matter.
DV_RULE float FloatOfF16(u16 h) {
  const u32 magnitude = h & 0x7fffu;
  const u32 sign = static_cast<u32>(h & 0x8000u) << 16;
  const u32 normal = (magnitude << 13) + (112u << 23);
  // 2^-14 * (1 + m/1024) - 2^-14 is the subnormal m * 2^-24.
  const float subnormal = FloatOfBits((magnitude << 13) | (113u << 23)) - 0x1p-14f;
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
  const u32 subnormal_bits = __float_as_uint(subnormal);
#else
  const u32 subnormal_bits = __builtin_bit_cast(u32, subnormal);
#endif
  const u32 special = (magnitude << 13) | 0x7f800000u;
  const u32 finite = magnitude < 0x400u ? subnormal_bits : normal;
  return FloatOfBits(sign | (magnitude >= 0x7c00u ? special : finite));
}

DV_RULE float FloatOfBf16(u16 b) { return FloatOfBits(static_cast<u32>(b) << 16); }

DV_RULE double AbsOf(double x) { return x < 0 ? -x : x; }
DV_RULE bool IsNan(double x) { return x != x; }
DV_RULE bool IsFinite(double x) { return ((BitsOf(x) >> 52) & 0x7ffu) != 0x7ffu; }

// floor(log2|t|) clamped to the table; the zero bucket for +-0. t must not be NaN.
DV_RULE int BucketOf(double t) {
  const u64 magnitude = BitsOf(t) & 0x7fffffffffffffffULL;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const int low = exponent < kMinExponent ? kMinExponent : exponent;
  const int clamped = low > kMaxExponent ? kMaxExponent : low;
  return magnitude == 0 ? kZeroBucket : clamped - kMinExponent;
}

// NaN stays NaN.
DV_RULE double ClampToRange(double x, double max_finite) {
  const double low = x < -max_finite ? -max_finite : x;
  return low > max_finite ? max_finite : low;
}

// The distance that the rules compare, for finite truth. NaN when the candidate is NaN.
DV_RULE double ElementError(double truth, double value, double max_finite) {
  return AbsOf(ClampToRange(value, max_finite) - ClampToRange(truth, max_finite));
}

DV_RULE double ElementTolerance(const Tolerance& tolerance, double truth, int bucket) {
  return tolerance.bucket_tol[bucket] +
         tolerance.rel_floor * AbsOf(ClampToRange(truth, tolerance.max_finite));
}

enum class ElementKind : int {
  kCompared,      // finite truth: err and tol say how it went
  kSpecialMatch,  // NaN or Inf as it must be
  kSpecialWrong,  // truth is NaN or Inf and the candidate is something else
  kDontCare,
};

struct ElementVerdict {
  ElementKind kind;
  bool wrong;
  double err;
  double tol;
  double ratio;       // err / tol; +Inf when the candidate is NaN or a special value is wrong
  double normalised;  // err / honest RMS of the bucket, for the RMS test; 0 outside it
};

DV_RULE double Infinity() {
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
  return __longlong_as_double(0x7ff0000000000000LL);
#else
  return __builtin_inf();
#endif
}

// Judges one element against the truth.
// In units of the honest RMS error. A NaN is infinitely wrong, so that a sum of squares is the same
// number in whatever order and on whatever device it is taken.
DV_RULE double NormalisedError(const Tolerance& tolerance, int bucket, double err) {
  const double normalised = err * tolerance.inv_bucket_rms[bucket];
  return IsNan(normalised) ? Infinity() : normalised;
}

DV_RULE ElementVerdict JudgeElement(const Tolerance& tolerance, double truth, double value,
                                    bool dont_care) {
  if (dont_care) return {ElementKind::kDontCare, false, 0, 0, 0, 0};
  if (!IsFinite(truth)) {
    const bool match = IsNan(truth) ? IsNan(value) : value == truth;
    if (match) return {ElementKind::kSpecialMatch, false, 0, 0, 0, 0};
    return {ElementKind::kSpecialWrong, true, Infinity(), 0, Infinity(), 0};
  }
  const int bucket = BucketOf(truth);
  const double err = ElementError(truth, value, tolerance.max_finite);
  const double tol = ElementTolerance(tolerance, truth, bucket);
  const double quotient = err / tol;
  const double ratio = IsNan(quotient) ? Infinity() : quotient;
  return {ElementKind::kCompared,
          !(ratio <= 1.0),
          err,
          tol,
          ratio,
          NormalisedError(tolerance, bucket, err)};
}

// Judges one element against the baseline's output, where there is no truth. A baseline that
// overflowed says nothing about a candidate that did not: that is "don't care", not wrong.
DV_RULE ElementVerdict JudgeElementDirect(const Tolerance& tolerance, double baseline,
                                          double value) {
  if (!IsFinite(baseline)) {
    const bool match = IsNan(baseline) ? IsNan(value) : value == baseline;
    return {match ? ElementKind::kSpecialMatch : ElementKind::kDontCare, false, 0, 0, 0, 0};
  }
  return JudgeElement(tolerance, baseline, value, false);
}

enum class HonestKind : int { kSample, kSpecial, kDontCare };

// Whether an honest value is a sample of the error (then err is set), confirms a special value, or
// contradicts the truth about finiteness. `limits` are those of the task's output type.
DV_RULE HonestKind ClassifyHonest(double truth, double honest, const DTypeLimits& limits,
                                  double* err) {
  *err = 0;
  if (!IsFinite(truth)) {
    const bool match = IsNan(truth) ? IsNan(honest) : honest == truth;
    return match ? HonestKind::kSpecial : HonestKind::kDontCare;
  }
  if (IsNan(honest)) return HonestKind::kDontCare;
  const bool near_overflow = AbsOf(truth) >= limits.max_finite * (1.0 - 8.0 * limits.eps);
  if (!IsFinite(honest) && !near_overflow) return HonestKind::kDontCare;
  *err = ElementError(truth, honest, limits.max_finite);
  return HonestKind::kSample;
}

DV_RULE int RatioBin(double ratio) {
  int bin = 0;
  for (int i = 0; i < kNumRatioBins - 1; ++i) bin += !(ratio <= RatioEdge(i));
  return bin;
}

// Quick acceptance against a baseline of f32, bf16 or f16: the rules above in single precision,
// rounded towards "look closer". What it accepts passes them; what it does not accept says nothing
// and is looked at by them. A timed pair asks only whether all is well, and nearly always it is.
constexpr int kQuickBuckets = 256;  // exponent fields of a float
// Covers every rounding on the way, from the table's conversion to the last addition.
constexpr double kQuickMargin = 0x1p-20;
// The same for sums of squares, which are added up in single precision a few thousand at a time.
constexpr double kQuickSumMargin = 1e-3;

struct QuickLimit {
  float tol;      // at most the bucket's tolerance; the part relative to |baseline| comes on top
  float inv_rms;  // at least the inverse of its honest RMS error
};

// Bounds below are chosen so that neither number is subnormal, infinite or NaN.
DV_RULE float RoundedDown(double x) {
  const double low = x * (1.0 - kQuickMargin);
  if (!(low > 0x1p-120)) return 0.0f;
  return static_cast<float>(low < 0x1p120 ? low : 0x1p120);
}

DV_RULE QuickLimit QuickLimitOf(double bucket_tol, double inv_rms) {
  const double high = inv_rms * (1.0 + kQuickMargin);
  if (!(high < 0x1p127)) return {-0x1.fffffep127f, 0.0f};  // nothing is accepted
  return {RoundedDown(bucket_tol),
          static_cast<float>(inv_rms > 0 && high < 0x1p-120 ? 0x1p-120 : high)};
}

// The limit for floats of one exponent field: 0 stands for zero and all subnormals, 255 for
// infinities and NaN, of which only equal infinities are accepted. `factor` as in WidenTolerance.
DV_RULE QuickLimit QuickLimitAt(const Tolerance& tolerance, double factor, int exponent) {
  if (exponent == kQuickBuckets - 1) return {0.0f, 0.0f};
  if (exponent > 0) {
    const int bucket = exponent - 127 - kMinExponent;
    return QuickLimitOf(tolerance.bucket_tol[bucket] * factor, tolerance.inv_bucket_rms[bucket]);
  }
  double tol = tolerance.bucket_tol[kZeroBucket];
  double inv_rms = 0;
  for (int bucket = -149 - kMinExponent; bucket < -126 - kMinExponent; ++bucket) {
    tol = tolerance.bucket_tol[bucket] < tol ? tolerance.bucket_tol[bucket] : tol;
    inv_rms =
        tolerance.inv_bucket_rms[bucket] > inv_rms ? tolerance.inv_bucket_rms[bucket] : inv_rms;
  }
  return QuickLimitOf(tol * factor, inv_rms);
}

DV_RULE u32 BitsOfFloat(float x) {
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
  return __float_as_uint(x);
#else
  return __builtin_bit_cast(u32, x);
#endif
}

DV_RULE int QuickBucketOf(float baseline) {
  return static_cast<int>((BitsOfFloat(baseline) >> 23) & 0xffu);
}

// The distance; 0 also for two equal infinities, NaN where either is NaN.
DV_RULE float QuickError(float baseline, float value) {
  const float difference = value - baseline;
  const float distance = difference < 0 ? -difference : difference;
  return value == baseline ? 0.0f : distance;
}

// `rel_floor` is RoundedDown(tolerance.rel_floor * factor), at most a half.
DV_RULE bool IsQuicklyAccepted(const QuickLimit& limit, float rel_floor, float baseline,
                               float error) {
  const float magnitude = baseline < 0 ? -baseline : baseline;
  // Against infinity the limit must stay finite: only an equal one is accepted.
  const float largest = 0x1.fffffep127f;
  return error <= limit.tol + rel_floor * (magnitude < largest ? magnitude : largest);
}

// Whether its error belongs into the RMS test.
DV_RULE bool IsInQuickRms(float baseline, int bucket) {
  return baseline != 0 && bucket != kQuickBuckets - 1;
}

// `sum_sq`: of error * inv_rms over all elements; `count`: of those in the RMS test.
DV_RULE bool IsQuickRmsAccepted(double sum_sq, u64 count, double rms_multiple, double factor) {
  const double limit = rms_multiple * factor;
  return sum_sq * (1.0 + kQuickSumMargin) <= limit * limit * static_cast<double>(count);
}

// Keyed checksum: a sum over 16-byte units of the folded 128-bit product of both words, each offset
// by a secret that moves with the unit's position. A sum, so that any number of threads may share
// the work in any order; position-keyed, so that moving data changes it. It detects changes
// made without the key; it is not a MAC.
struct ChecksumKey {
  u64 first;
  u64 second;
};

DV_RULE u64 MixBits(u64 x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  return x;
}

DV_RULE ChecksumKey ExpandChecksumKey(u64 key) {
  return {MixBits(key + 0x9e3779b97f4a7c15ULL), MixBits(key + 0x3c6ef372fe94f82aULL)};
}

DV_RULE u64 ChecksumUnit(u64 word0, u64 word1, u64 unit_index, const ChecksumKey& key) {
  const u64 a = word0 + key.first + unit_index * 0x9e3779b97f4a7c15ULL;
  const u64 b = word1 + key.second + unit_index * 0xc2b2ae3d27d4eb4fULL;
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
  return (a * b) ^ __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
#endif
}

DV_RULE u64 FinishChecksum(u64 sum, u64 num_bytes, const ChecksumKey& key) {
  return MixBits(sum ^ MixBits(num_bytes + key.second));
}

}  // namespace davinci::numerics
