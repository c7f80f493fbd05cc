// Keyed patterns and positions: the arithmetic shared by host and device. Compiled by the host compiler as part of this
// library and, as text, by NVRTC in front of the kernels, so the two sides cannot drift apart. It includes nothing.
//
// Everything is a function of a 64-bit secret key and a position, so any element can be made or checked without the ones
// before it. The mixing function is the finaliser of SplitMix64; it is not cryptographic: it keeps a candidate that does
// not know the key from predicting values, which is all that is asked of it. (Checksums: judge/compare/element_rules.h.)

#if defined(__CUDACC__)
#define DV_KEYED_FN __host__ __device__ __forceinline__
#else
#define DV_KEYED_FN inline
#endif

namespace davinci::gpu::keyed {

using U64 = unsigned long long;
using U32 = unsigned int;

constexpr U64 kGolden = 0x9e3779b97f4a7c15ULL;

DV_KEYED_FN U64 Mix(U64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

DV_KEYED_FN U64 WordAt(U64 key, U64 index) { return Mix(key + (index + 1) * kGolden); }

DV_KEYED_FN U64 MulHigh(U64 a, U64 b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<U64>((static_cast<Wide>(a) * b) >> 64);
#endif
}

// Position of sample `j` among `count` elements; with repetition, uniform up to count / 2^64.
DV_KEYED_FN U64 SamplePosition(U64 key, U64 j, U64 count) {
  return MulHigh(WordAt(key, j), count);
}

// What is written into an output before a call: a signalling NaN with a keyed payload for floats, keyed bits for integers,
// and for bool a byte no bool has. So an element that was never written is seen both as a NaN and as its exact pattern.
enum PoisonKind : int {
  kPoisonFloat16 = 0,
  kPoisonBfloat16 = 1,
  kPoisonFloat32 = 2,
  kPoisonFloat64 = 3,
  kPoisonBits8 = 4,
  kPoisonBits16 = 5,
  kPoisonBits32 = 6,
  kPoisonBits64 = 7,
  kPoisonBool = 8,
};

DV_KEYED_FN int PoisonBytes(int kind) {
  switch (kind) {
    case kPoisonFloat16:
    case kPoisonBfloat16:
    case kPoisonBits16: return 2;
    case kPoisonFloat32:
    case kPoisonBits32: return 4;
    case kPoisonFloat64:
    case kPoisonBits64: return 8;
    default: return 1;
  }
}

// Quiet bit clear, the bit below it set (so the payload is never zero, which would be infinity), sign and rest keyed.
DV_KEYED_FN U64 PoisonFromWord(int kind, U64 word) {
  switch (kind) {
    case kPoisonFloat16: return (word & 0x80ff) | 0x7d00;
    case kPoisonBfloat16: return (word & 0x801f) | 0x7fa0;
    case kPoisonFloat32: return (word & 0x801fffffULL) | 0x7fa00000ULL;
    case kPoisonFloat64: return (word & 0x8003ffffffffffffULL) | 0x7ff4000000000000ULL;
    case kPoisonBits8: return word & 0xff;
    case kPoisonBits16: return word & 0xffff;
    case kPoisonBits32: return word & 0xffffffffULL;
    case kPoisonBits64: return word;
    default: return (word & 0x7f) | 0x80;
  }
}

// Pattern of element `index`: the elements of one 8-byte group share one mixed word, each taking its own bits of it.
DV_KEYED_FN U64 PoisonAt(int kind, U64 key, U64 index) {
  const int bytes = PoisonBytes(kind);
  const U64 per_word = 8 / bytes;
  const U64 word = WordAt(key, index / per_word);
  const int lane = static_cast<int>(index % per_word);
  return PoisonFromWord(kind, word >> (lane * bytes * 8));
}

// All elements of the 8-byte group `group` at once.
DV_KEYED_FN U64 PoisonGroup(int kind, U64 key, U64 group) {
  const U64 word = WordAt(key, group);
  const int bits = PoisonBytes(kind) * 8;
  if (bits == 64) return PoisonFromWord(kind, word);
  U64 result = 0;
  for (int shift = 0; shift < 64; shift += bits) {
    result |= PoisonFromWord(kind, word >> shift) << shift;
  }
  return result;
}

}  // namespace davinci::gpu::keyed
// The rules of comparison, one element at a time: what "the candidate is as good as an honest implementation" means.
//
// The same text is compiled as host C++20 (compare.cc, profile.cc) and as device code by NVRTC, so this header uses no
// standard library, no allocation and no global state. Everything is a plain struct or a pure function.
//
// The idea
// --------
// `truth` is the reference evaluated in fp64. `honest` is the reference (or a rearrangement of it) evaluated in the
// task's precision. The honest error depends on the conditioning of the task: a long signed sum is wrong by much more
// than an ulp of its result, a ReLU by nothing. So nothing is guessed: the honest error is measured per binade of
// |truth| and a candidate may be wrong by a stated multiple of it.
//
//   tol(i)  = multiple * pooled_max_err[bucket(truth_i)] + floor_ulps * eps * |truth_i| + absolute floor
//   wrong(i) <=> !(|candidate_i - truth_i| <= tol(i))                                  (a NaN is therefore wrong)
//   rms     = sqrt(mean_i((|candidate_i - truth_i| / honest_rms[bucket(truth_i)])^2)) <= rms_multiple
//
// Why it is built like this
//  * Buckets are binades of |truth|, from 2^-160 to 2^159 (all of fp32, subnormals included); what lies beyond is
//    clamped into the outer ones. A narrower range would pool 1e-20 with 1e-38 and leave tiny outputs unchecked.
//  * A bucket is pooled with its neighbours on both sides, and further until it rests on kMinPooledSamples honest
//    samples: the maximum of three samples says nothing.
//  * The floor is relative to the element, not to its binade, so it means the same at 1e-30 and at 1e30.
//  * The absolute floor is the larger of what flush-to-zero costs and of `scale_floor_ulps` ulps of the median nonzero
//    |truth|: x*(1+erf(x))/2 loses all relative accuracy in the left tail of GELU and is still a correct kernel.
//    The median, not the mean square, so that one huge element cannot excuse all the others.
//  * The RMS test is normalised by the honest RMS of each bucket. An unnormalised one is decided by the few largest
//    elements of a heavy-tailed output and sees neither a low-precision path for the rest nor forgives an unlucky one.
//  * truth == 0 has its own bucket (a clamp hides what the error was before it), pooled with the smallest magnitudes.
//  * A bucket without samples of its own, which only happens when a profile is reused for other inputs, borrows from its
//    neighbours; errors of smaller magnitudes are scaled up by the distance, errors of larger ones are taken as they are.
//
// Special values
//  * truth NaN: the candidate must be NaN. truth +-Inf: the same infinity.
//  * |truth| above the largest finite value of the output type, or so near that rounding may overflow: truth and
//    candidate are clamped to the finite range and compared there, so Inf and "at least max" are both accepted.
//  * Where an honest implementation disagrees with the truth about being finite (fp32 overflows inside, fp64 does not)
//    nothing can be demanded: the profile marks the element "don't care"; it is counted, not judged.

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DV_RULE __host__ __device__ __forceinline__
#else
#define DV_RULE inline __attribute__((always_inline))
#endif

namespace davinci::judge {

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

// Upper edges of the bins of err/tol; the last bin holds everything above (infinite ratios and NaN included).
constexpr int kNumRatioBins = 10;

DV_RULE double RatioEdge(int i) {
  constexpr double kEdges[kNumRatioBins - 1] = {1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4};
  return kEdges[i];
}

// What honest implementations got wrong, per bucket of |truth|. Zero-initialised = empty. Profiles of several honest
// variants and of several draws may be accumulated into one.
struct ErrorProfile {
  u64 count[kNumBuckets];
  double max_err[kNumBuckets];
  double sum_sq_err[kNumBuckets];
  u64 num_special;    // truth NaN or Inf, matched by the honest implementation
  u64 num_dont_care;  // the honest implementation disagreed with the truth about finiteness
};

// A profile turned into limits; made by BuildTolerance (tolerance.h), read by every comparison.
struct Tolerance {
  double bucket_tol[kNumBuckets];        // multiple * pooled max_err + absolute floor
  double inv_bucket_rms[kNumBuckets];    // 1 / honest RMS error; 0 for the zero bucket, which the RMS test leaves out
  double rel_floor;                      // floor_ulps * eps, times |truth|
  double max_finite;                     // of the output type
  double rms_multiple;                   // the RMS test's limit
  u64 num_samples;                       // honest samples it rests on
  int dtype;                             // DType of the output
  int reserved;
};

struct DTypeLimits {
  double eps;         // distance from 1 to the next value
  double max_finite;
  double flush;       // error that an implementation without subnormals may make near zero
};

DV_RULE DTypeLimits LimitsOf(DType dtype) {
  switch (dtype) {
    // Hardware keeps fp16 subnormals everywhere, so only one subnormal step is forgiven there.
    case DType::kF16: return {0x1p-10, 65504.0, 0x1p-24};
    case DType::kBf16: return {0x1p-7, 0x1.fep127, 0x1p-126};
    case DType::kF32: return {0x1p-23, 0x1.fffffep127, 0x1p-126};
    default: return {0x1p-52, 0x1.fffffffffffffp1023, 0x1p-1022};
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

// Exact, for every pattern; subnormals do not pass through a subnormal float, so flush modes of the caller do not matter.
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
DV_RULE ElementVerdict JudgeElement(const Tolerance& tolerance, double truth, double value, bool dont_care) {
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
  return {ElementKind::kCompared, !(ratio <= 1.0), err, tol, ratio, err * tolerance.inv_bucket_rms[bucket]};
}

// Judges one element against the baseline's output, where there is no truth. A baseline that overflowed says nothing
// about a candidate that did not: that is "don't care", not wrong.
DV_RULE ElementVerdict JudgeElementDirect(const Tolerance& tolerance, double baseline, double value) {
  if (!IsFinite(baseline)) {
    const bool match = IsNan(baseline) ? IsNan(value) : value == baseline;
    return {match ? ElementKind::kSpecialMatch : ElementKind::kDontCare, false, 0, 0, 0, 0};
  }
  return JudgeElement(tolerance, baseline, value, false);
}

enum class HonestKind : int { kSample, kSpecial, kDontCare };

// Whether an honest value is a sample of the error (then err is set), confirms a special value, or contradicts the
// truth about finiteness. `limits` are those of the task's output type.
DV_RULE HonestKind ClassifyHonest(double truth, double honest, const DTypeLimits& limits, double* err) {
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

// Keyed checksum: a sum over 16-byte units of the folded 128-bit product of both words, each offset by a secret that
// moves with the unit's position. A sum, so that any number of threads may share the work in any order; position-keyed,
// so that moving data changes it. It detects change by somebody who does not know the key; it is not a MAC.
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

}  // namespace davinci::judge
// What host code and comparison kernels agree on. Compiled by the host and, as text, by NVRTC; includes nothing.
//
// The rules of comparison (element_rules.h) belong to the judge, a layer above this one: here they are only text, compiled
// into the kernels, and the judge's structs are byte strings of stated sizes. compare.cu asserts each of these numbers
// against the rules' own types, so a change there stops the kernels from compiling instead of going unnoticed.

namespace davinci::gpu {

// judge::DType.
enum DTypeNumber : int {
  kDTypeF16 = 0,
  kDTypeBf16 = 1,
  kDTypeF32 = 2,
  kDTypeF64 = 3,
  kDTypeI8 = 4,
  kDTypeU8 = 5,
  kDTypeI16 = 6,
  kDTypeI32 = 7,
  kDTypeI64 = 8,
  kDTypeBool = 9,
};

constexpr int kProfileBuckets = 321;
constexpr int kErrorProfileBytes = 8 * (3 * kProfileBuckets + 2);
constexpr int kToleranceBytes = 8 * (2 * kProfileBuckets + 5);
constexpr int kToleranceRmsMultipleOffset = 8 * (2 * kProfileBuckets + 2);
constexpr int kToleranceDTypeOffset = 8 * (2 * kProfileBuckets + 4);
constexpr int kCompareHistogramBins = 10;

// Threads of a comparing block; warps of a profiling block and the shared memory each of them needs.
constexpr int kCompareThreads = 256;
constexpr int kProfileWarps = 8;
constexpr int kProfileTableBytes = (20 * kProfileBuckets + 8 + 7) / 8 * 8;

// Plain totals over all elements; the verdict is made from them by the judge.
struct CompareTotals {
  unsigned long long num_elements;
  unsigned long long num_compared;        // judged: neither "don't care" nor a special value as it must be
  unsigned long long num_wrong;
  unsigned long long num_dont_care;
  unsigned long long num_special_match;   // truth NaN or Inf, candidate the same
  unsigned long long num_nan_truth;
  unsigned long long num_nan_candidate;
  unsigned long long num_unexpected_nan;  // candidate NaN where the truth is not and the element counts
  unsigned long long num_normalised;      // elements the RMS test rests on
  unsigned long long ratio_histogram[kCompareHistogramBins];  // of err/tol, compared elements only
  unsigned long long first_wrong_index;   // ~0: none
  unsigned long long worst_index;         // lowest index of the largest err/tol; ~0: nothing was compared
  double worst_ratio;
  double sum_normalised_sq;               // of err / honest RMS of the element's bucket
  // Values at the two indices; integers are rounded to double.
  double first_wrong_truth;
  double first_wrong_candidate;
  double worst_truth;
  double worst_candidate;
  double worst_err;
  double worst_tol;
};

}  // namespace davinci::gpu
// Kernels over raw buffers: fill, poison, checksum, sample. Compiled by NVRTC after kernels/keyed.h; launched by
// kernel_library.cc, which is where the parameters are documented.

using namespace davinci::gpu::keyed;

// 16-byte words of keyed noise. One mixed word makes both halves: incompressible is all that is needed.
extern "C" __global__ void __launch_bounds__(512) dv_fill_random(ulonglong2* out, U64 words, U64 key) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  for (U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
    const U64 a = WordAt(key, i);
    out[i] = make_ulonglong2(a, (a << 23 | a >> 41) * 0xd6e8feb86659fd93ULL);
  }
}

// Reads a buffer so that it, and nothing else, is what the L2 holds afterwards. The store never happens; it keeps the
// loads alive.
extern "C" __global__ void __launch_bounds__(512) dv_touch(const ulonglong2* in, U64 words, U64* sink) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  U64 sum = 0;
  for (U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
    const ulonglong2 v = in[i];
    sum += v.x ^ v.y;
  }
  if (sum == 0x5bd1e995ULL && words == ~0ULL) *sink = sum;
}

// The buffer starts at `out`, 8-byte aligned when `aligned`; `groups` whole 8-byte groups, then single elements.
template <int kind>
__device__ __forceinline__ void Poison(unsigned char* out, U64 count, U64 key, int aligned) {
  const int bytes = PoisonBytes(kind);
  const U64 per_group = 8 / bytes;
  const U64 thread = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  const U64 pairs = aligned ? count / (2 * per_group) : 0;
  ulonglong2* const body = (ulonglong2*)out;
  for (U64 i = thread; i < pairs; i += stride) {
    body[i] = make_ulonglong2(PoisonGroup(kind, key, 2 * i), PoisonGroup(kind, key, 2 * i + 1));
  }
  for (U64 i = pairs * 2 * per_group + thread; i < count; i += stride) {
    const U64 bits = PoisonAt(kind, key, i);
    if (bytes == 1) out[i] = (unsigned char)bits;
    if (bytes == 2) ((unsigned short*)out)[i] = (unsigned short)bits;
    if (bytes == 4) ((U32*)out)[i] = (U32)bits;
    if (bytes == 8) ((U64*)out)[i] = bits;
  }
}

extern "C" __global__ void __launch_bounds__(512)
    dv_poison(unsigned char* out, U64 count, int kind, U64 key, int aligned) {
  switch (kind) {
    case kPoisonFloat16: return Poison<kPoisonFloat16>(out, count, key, aligned);
    case kPoisonBfloat16: return Poison<kPoisonBfloat16>(out, count, key, aligned);
    case kPoisonFloat32: return Poison<kPoisonFloat32>(out, count, key, aligned);
    case kPoisonFloat64: return Poison<kPoisonFloat64>(out, count, key, aligned);
    case kPoisonBits8: return Poison<kPoisonBits8>(out, count, key, aligned);
    case kPoisonBits16: return Poison<kPoisonBits16>(out, count, key, aligned);
    case kPoisonBits32: return Poison<kPoisonBits32>(out, count, key, aligned);
    case kPoisonBits64: return Poison<kPoisonBits64>(out, count, key, aligned);
    case kPoisonBool: return Poison<kPoisonBool>(out, count, key, aligned);
  }
}

__device__ __forceinline__ U64 LoadElement(const unsigned char* data, U64 index, int bytes) {
  if (bytes == 1) return data[index];
  if (bytes == 2) return ((const unsigned short*)data)[index];
  if (bytes == 4) return ((const U32*)data)[index];
  return ((const U64*)data)[index];
}

// result[0] += elements that still hold their pattern; result[1] = min of their indices (start it at ~0).
extern "C" __global__ void __launch_bounds__(512)
    dv_poison_count(const unsigned char* data, U64 count, int kind, U64 key, int aligned,
                    U64* result) {
  const int bytes = PoisonBytes(kind);
  const U64 per_group = 8 / bytes;
  const U64 thread = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  const U64 groups = aligned ? count / per_group : 0;
  U64 found = 0;
  U64 first = ~0ULL;
  const auto visit = [&](U64 index, U64 bits) {
    if (bits != PoisonAt(kind, key, index)) return;
    ++found;
    if (index < first) first = index;
  };
  for (U64 g = thread; g < groups; g += stride) {
    const U64 word = ((const U64*)data)[g];
    // Equality of any lane needs the full pattern; one exclusive-or finds out for all lanes.
    const U64 difference = word ^ PoisonGroup(kind, key, g);
    if (bytes == 8) {
      if (difference == 0) visit(g, word);
      continue;
    }
    const int bits = bytes * 8;
    const U64 mask = (1ULL << bits) - 1;
    for (int lane = 0; lane < (int)per_group; ++lane) {
      if (((difference >> (lane * bits)) & mask) == 0) {
        visit(g * per_group + lane, (word >> (lane * bits)) & mask);
      }
    }
  }
  for (U64 i = groups * per_group + thread; i < count; i += stride) {
    visit(i, LoadElement(data, i, bytes));
  }
  for (int offset = 16; offset > 0; offset >>= 1) {
    found += __shfl_down_sync(~0u, found, offset);
    const U64 other = __shfl_down_sync(~0u, first, offset);
    first = other < first ? other : first;
  }
  if ((threadIdx.x & 31) == 0 && found != 0) {
    atomicAdd(&result[0], found);
    atomicMin(&result[1], first);
  }
}

// result[0] += the unfinished checksum of element_rules.h. `aligned`: data is 16-byte aligned.
extern "C" __global__ void __launch_bounds__(512)
    dv_checksum(const unsigned char* data, U64 num_bytes, U64 key_word, int aligned, U64* result) {
  const davinci::judge::ChecksumKey key = davinci::judge::ExpandChecksumKey(key_word);
  const U64 thread = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  const U64 whole = aligned ? num_bytes / 16 : 0;
  const ulonglong2* const body = (const ulonglong2*)data;
  U64 sum = 0;
  U64 i = thread;
  // Four loads in flight per thread: memory latency, not arithmetic, is what limits one load at a time.
  for (; i + 3 * stride < whole; i += 4 * stride) {
    ulonglong2 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = body[i + k * stride];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      sum += davinci::judge::ChecksumUnit(v[k].x, v[k].y, i + k * stride, key);
    }
  }
  for (; i < whole; i += stride) {
    const ulonglong2 v = body[i];
    sum += davinci::judge::ChecksumUnit(v.x, v.y, i, key);
  }
  // The last unit, padded with zeros; or all of them when the buffer starts at an odd address.
  const U64 units = (num_bytes + 15) / 16;
  for (U64 unit = whole + thread; unit < units; unit += stride) {
    U64 words[2] = {0, 0};
    for (int b = 0; b < 16; ++b) {
      const U64 at = unit * 16 + b;
      if (at < num_bytes) words[b >> 3] |= (U64)data[at] << (8 * (b & 7));
    }
    sum += davinci::judge::ChecksumUnit(words[0], words[1], unit, key);
  }
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
  __shared__ U64 partial[16];
  if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    U64 total = 0;
    for (int w = 0; w < (int)(blockDim.x >> 5); ++w) total += partial[w];
    atomicAdd(result, total);
  }
}

// One thread: turns the sum into the checksum.
extern "C" __global__ void dv_checksum_finish(U64* result, U64 num_bytes, U64 key_word) {
  *result = davinci::judge::FinishChecksum(*result, num_bytes,
                                           davinci::judge::ExpandChecksumKey(key_word));
}

// out[j] = bits of element SamplePosition(key, j, count), zero-extended.
extern "C" __global__ void __launch_bounds__(256)
    dv_sample(const unsigned char* data, U64 count, int bytes, U64 key, U64 samples, U64* out) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  for (U64 j = (U64)blockIdx.x * blockDim.x + threadIdx.x; j < samples; j += stride) {
    out[j] = LoadElement(data, SamplePosition(key, j, count), bytes);
  }
}
// Comparison kernels: the rules of element_rules.h applied to whole buffers. Compiled by NVRTC after keyed.h,
// element_rules.h and compare_layout.h.
//
// Every kernel writes one partial result per block and a second, small kernel adds the partials in a fixed order: no
// floating-point atomics, so equal inputs give equal bits for a given grid.

using namespace davinci::judge;
using davinci::gpu::CompareTotals;
using davinci::gpu::kCompareThreads;
using davinci::gpu::kProfileWarps;

static_assert(davinci::gpu::kProfileBuckets == kNumBuckets);
static_assert(davinci::gpu::kErrorProfileBytes == sizeof(ErrorProfile));
static_assert(davinci::gpu::kToleranceBytes == sizeof(Tolerance));
static_assert(davinci::gpu::kToleranceRmsMultipleOffset == __builtin_offsetof(Tolerance, rms_multiple));
static_assert(davinci::gpu::kToleranceDTypeOffset == __builtin_offsetof(Tolerance, dtype));
static_assert(davinci::gpu::kCompareHistogramBins == kNumRatioBins);
static_assert(davinci::gpu::kDTypeF16 == (int)DType::kF16 && davinci::gpu::kDTypeBf16 == (int)DType::kBf16 &&
              davinci::gpu::kDTypeF32 == (int)DType::kF32 && davinci::gpu::kDTypeF64 == (int)DType::kF64 &&
              davinci::gpu::kDTypeI8 == (int)DType::kI8 && davinci::gpu::kDTypeU8 == (int)DType::kU8 &&
              davinci::gpu::kDTypeI16 == (int)DType::kI16 && davinci::gpu::kDTypeI32 == (int)DType::kI32 &&
              davinci::gpu::kDTypeI64 == (int)DType::kI64 && davinci::gpu::kDTypeBool == (int)DType::kBool);

namespace {

constexpr int kUnroll = 4;
constexpr U64 kNone = ~0ULL;

template <DType type>
struct Stored;
template <>
struct Stored<DType::kF16> {
  using Type = u16;
  static __device__ __forceinline__ double ToDouble(Type v) { return FloatOfF16(v); }
};
template <>
struct Stored<DType::kBf16> {
  using Type = u16;
  static __device__ __forceinline__ double ToDouble(Type v) { return FloatOfBf16(v); }
};
template <>
struct Stored<DType::kF32> {
  using Type = float;
  static __device__ __forceinline__ double ToDouble(Type v) { return v; }
};
template <>
struct Stored<DType::kF64> {
  using Type = double;
  static __device__ __forceinline__ double ToDouble(Type v) { return v; }
};

__device__ __forceinline__ i64 LoadInteger(const void* data, int type, U64 i) {
  switch ((DType)type) {
    case DType::kI8: return ((const signed char*)data)[i];
    case DType::kI16: return ((const short*)data)[i];
    case DType::kI32: return ((const int*)data)[i];
    case DType::kI64: return ((const i64*)data)[i];
    default: return ((const u8*)data)[i];  // kU8, kBool
  }
}

__device__ __forceinline__ double LoadAnyAsDouble(const void* data, int type, U64 i) {
  switch ((DType)type) {
    case DType::kF16: return FloatOfF16(((const u16*)data)[i]);
    case DType::kBf16: return FloatOfBf16(((const u16*)data)[i]);
    case DType::kF32: return ((const float*)data)[i];
    case DType::kF64: return ((const double*)data)[i];
    default: return (double)LoadInteger(data, type, i);
  }
}

template <typename T>
__device__ __forceinline__ T WarpSum(T value) {
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(~0u, value, offset);
  return value;
}

// Counters of one thread; 32 bits are enough because a thread sees n / (grid * block) elements.
struct Tally {
  u32 compared = 0;
  u32 wrong = 0;
  u32 dont_care = 0;
  u32 special_match = 0;
  u32 nan_truth = 0;
  u32 nan_candidate = 0;
  u32 unexpected_nan = 0;
  u32 normalised = 0;
  U64 first_wrong = kNone;
  U64 worst_index = kNone;
  double worst_ratio = -1;
  double sum_sq = 0;

  __device__ __forceinline__ void Worst(double ratio, U64 index) {
    if (ratio > worst_ratio || (ratio == worst_ratio && index < worst_index)) {
      worst_ratio = ratio;
      worst_index = index;
    }
  }
};

struct BlockScratch {
  u32 histogram[kNumRatioBins][kCompareThreads];  // one column per thread: no conflicts, no atomics
  U64 counts[kCompareThreads / 32][8];
  U64 first_wrong[kCompareThreads / 32];
  U64 worst_index[kCompareThreads / 32];
  double worst_ratio[kCompareThreads / 32];
  double sum_sq[kCompareThreads / 32];
};

__device__ __forceinline__ void WriteBlockTotals(const Tally& tally, BlockScratch& scratch,
                                                 CompareTotals* out) {
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const u32 counts[8] = {tally.compared,      tally.wrong,         tally.dont_care,
                         tally.special_match, tally.nan_truth,     tally.nan_candidate,
                         tally.unexpected_nan, tally.normalised};
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const U64 sum = WarpSum((U64)counts[k]);
    if (lane == 0) scratch.counts[warp][k] = sum;
  }
  const double sum_sq = WarpSum(tally.sum_sq);
  U64 first = tally.first_wrong;
  Tally worst = tally;
  for (int offset = 16; offset > 0; offset >>= 1) {
    const U64 other_first = __shfl_down_sync(~0u, first, offset);
    first = other_first < first ? other_first : first;
    const double ratio = __shfl_down_sync(~0u, worst.worst_ratio, offset);
    const U64 index = __shfl_down_sync(~0u, worst.worst_index, offset);
    worst.Worst(ratio, index);
  }
  if (lane == 0) {
    scratch.sum_sq[warp] = sum_sq;
    scratch.first_wrong[warp] = first;
    scratch.worst_index[warp] = worst.worst_index;
    scratch.worst_ratio[warp] = worst.worst_ratio;
  }
  __syncthreads();
  constexpr int kWarps = kCompareThreads / 32;
  for (int bin = warp; bin < kNumRatioBins; bin += kWarps) {
    U64 sum = 0;
    for (int t = lane; t < kCompareThreads; t += 32) sum += scratch.histogram[bin][t];
    sum = WarpSum(sum);
    if (lane == 0) out->ratio_histogram[bin] = sum;
  }
  if (threadIdx.x != 0) return;
  U64 sums[8] = {};
  Tally total;
  for (int w = 0; w < kWarps; ++w) {
    for (int k = 0; k < 8; ++k) sums[k] += scratch.counts[w][k];
    total.sum_sq += scratch.sum_sq[w];
    if (scratch.first_wrong[w] < total.first_wrong) total.first_wrong = scratch.first_wrong[w];
    total.Worst(scratch.worst_ratio[w], scratch.worst_index[w]);
  }
  out->num_compared = sums[0];
  out->num_wrong = sums[1];
  out->num_dont_care = sums[2];
  out->num_special_match = sums[3];
  out->num_nan_truth = sums[4];
  out->num_nan_candidate = sums[5];
  out->num_unexpected_nan = sums[6];
  out->num_normalised = sums[7];
  out->first_wrong_index = total.first_wrong;
  out->worst_index = total.worst_index;
  out->worst_ratio = total.worst_ratio;
  out->sum_normalised_sq = total.sum_sq;
}

// Direct: `truth` is the baseline's output in the candidate's type, not fp64.
template <DType type, bool direct>
__device__ __forceinline__ void CompareFloats(const void* truth, const void* candidate,
                                              const u8* dont_care, U64 n,
                                              const Tolerance& tolerance, BlockScratch& scratch,
                                              CompareTotals* out) {
  using Value = typename Stored<type>::Type;
  const Value* const values = (const Value*)candidate;
  const Value* const baselines = (const Value*)truth;
  const double* const truths = (const double*)truth;
  for (int bin = 0; bin < kNumRatioBins; ++bin) scratch.histogram[bin][threadIdx.x] = 0;
  Tally tally;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  const auto judge = [&](U64 i, double t, double v, bool skip) {
    const ElementVerdict verdict =
        direct ? JudgeElementDirect(tolerance, t, v) : JudgeElement(tolerance, t, v, skip);
    const bool t_nan = IsNan(t);
    const bool v_nan = IsNan(v);
    tally.nan_truth += t_nan;
    tally.nan_candidate += v_nan;
    if (verdict.kind == ElementKind::kCompared || verdict.kind == ElementKind::kSpecialWrong) {
      ++tally.compared;
      scratch.histogram[RatioBin(verdict.ratio)][threadIdx.x] += 1;
      tally.Worst(verdict.ratio, i);
      if (verdict.kind == ElementKind::kCompared && t != 0) {
        ++tally.normalised;
        tally.sum_sq += verdict.normalised * verdict.normalised;
      }
    } else {
      tally.special_match += verdict.kind == ElementKind::kSpecialMatch;
      tally.dont_care += verdict.kind == ElementKind::kDontCare;
    }
    if (verdict.wrong) {
      ++tally.wrong;
      if (i < tally.first_wrong) tally.first_wrong = i;
    }
    tally.unexpected_nan += v_nan && !t_nan && verdict.kind != ElementKind::kDontCare;
  };
  U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + (kUnroll - 1) * stride < n; i += kUnroll * stride) {
    double t[kUnroll];
    Value v[kUnroll];
    bool skip[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const U64 at = i + k * stride;
      t[k] = direct ? Stored<type>::ToDouble(baselines[at]) : truths[at];
      v[k] = values[at];
      skip[k] = !direct && dont_care != nullptr && dont_care[at] != 0;
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      judge(i + k * stride, t[k], Stored<type>::ToDouble(v[k]), skip[k]);
    }
  }
  for (; i < n; i += stride) {
    judge(i, direct ? Stored<type>::ToDouble(baselines[i]) : truths[i],
          Stored<type>::ToDouble(values[i]), !direct && dont_care != nullptr && dont_care[i] != 0);
  }
  WriteBlockTotals(tally, scratch, out);
}

// The tolerance in shared memory, every limit multiplied by `factor` (as WidenTolerance does).
__device__ __forceinline__ void LoadTolerance(const Tolerance* from, double factor, Tolerance& to) {
  for (int b = threadIdx.x; b < kNumBuckets; b += blockDim.x) {
    const double wide = from->bucket_tol[b] * factor;
    to.bucket_tol[b] = wide < 0x1p1023 ? wide : 0x1p1023;
    to.inv_bucket_rms[b] = from->inv_bucket_rms[b];
  }
  if (threadIdx.x == 0) {
    to.rel_floor = from->rel_floor * factor;
    to.max_finite = from->max_finite;
    to.rms_multiple = from->rms_multiple * factor;
    to.num_samples = from->num_samples;
    to.dtype = from->dtype;
    to.reserved = 0;
  }
  __syncthreads();
}

}  // namespace

// Against fp64 truth. partials: one CompareTotals per block. dont_care: n bytes or null.
extern "C" __global__ void __launch_bounds__(kCompareThreads)
    dv_compare(const void* truth, const void* candidate, int type, U64 n, const Tolerance* limits,
               const u8* dont_care, CompareTotals* partials) {
  __shared__ BlockScratch scratch;
  __shared__ Tolerance tolerance;
  LoadTolerance(limits, 1.0, tolerance);
  CompareTotals* const out = partials + blockIdx.x;
  switch ((DType)type) {
    case DType::kF16:
      return CompareFloats<DType::kF16, false>(truth, candidate, dont_care, n, tolerance, scratch, out);
    case DType::kBf16:
      return CompareFloats<DType::kBf16, false>(truth, candidate, dont_care, n, tolerance, scratch, out);
    case DType::kF32:
      return CompareFloats<DType::kF32, false>(truth, candidate, dont_care, n, tolerance, scratch, out);
    case DType::kF64:
      return CompareFloats<DType::kF64, false>(truth, candidate, dont_care, n, tolerance, scratch, out);
    default: return;
  }
}

// Against the baseline's output of the same type.
extern "C" __global__ void __launch_bounds__(kCompareThreads)
    dv_compare_direct(const void* baseline, const void* candidate, int type, U64 n,
                      const Tolerance* limits, double factor, CompareTotals* partials) {
  __shared__ BlockScratch scratch;
  __shared__ Tolerance tolerance;
  LoadTolerance(limits, factor, tolerance);
  CompareTotals* const out = partials + blockIdx.x;
  switch ((DType)type) {
    case DType::kF16:
      return CompareFloats<DType::kF16, true>(baseline, candidate, nullptr, n, tolerance, scratch, out);
    case DType::kBf16:
      return CompareFloats<DType::kBf16, true>(baseline, candidate, nullptr, n, tolerance, scratch, out);
    case DType::kF32:
      return CompareFloats<DType::kF32, true>(baseline, candidate, nullptr, n, tolerance, scratch, out);
    case DType::kF64:
      return CompareFloats<DType::kF64, true>(baseline, candidate, nullptr, n, tolerance, scratch, out);
    default: return;
  }
}

// Integers and bool: equal to the truth or to one of the variants (null: absent), all exact. `truth_type` may differ from
// `type`; variants are stored like the candidate. A bool that is neither 0 nor 1 is wrong. The "ratio" of a wrong
// element is its distance from the truth; elements that are right have none.
extern "C" __global__ void __launch_bounds__(kCompareThreads)
    dv_compare_integers(const void* truth, int truth_type, const void* candidate, int type, U64 n,
                        const void* variant0, const void* variant1, const void* variant2,
                        const void* variant3, CompareTotals* partials) {
  __shared__ BlockScratch scratch;
  for (int bin = 0; bin < kNumRatioBins; ++bin) scratch.histogram[bin][threadIdx.x] = 0;
  const void* const variants[4] = {variant0, variant1, variant2, variant3};
  const U64 stride = (U64)gridDim.x * blockDim.x;
  Tally tally;
  for (U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const i64 t = LoadInteger(truth, truth_type, i);
    const i64 v = LoadInteger(candidate, type, i);
    bool equal = v == t;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (!equal && variants[k] != nullptr) equal = v == LoadInteger(variants[k], type, i);
    }
    if ((DType)type == DType::kBool && v > 1) equal = false;
    ++tally.compared;
    scratch.histogram[equal ? 0 : kNumRatioBins - 1][threadIdx.x] += 1;
    if (equal) continue;
    ++tally.wrong;
    if (i < tally.first_wrong) tally.first_wrong = i;
    // Exact in 64 bits before it is rounded: int64 outputs may differ by more than 2^53.
    tally.Worst((double)(v > t ? (U64)v - (U64)t : (U64)t - (U64)v), i);
  }
  WriteBlockTotals(tally, scratch, partials + blockIdx.x);
}

// One block. Adds the partials in order and looks up the values at the two indices. `limits` is null for integers.
extern "C" __global__ void __launch_bounds__(32)
    dv_compare_finish(const CompareTotals* partials, int num_partials, U64 n, const void* truth,
                      int truth_type, const void* candidate, int type, const Tolerance* limits,
                      double factor, CompareTotals* out) {
  constexpr int kWords = 9 + kNumRatioBins;  // the leading integers of CompareTotals
  const U64* const words = (const U64*)partials;
  constexpr int kStride = sizeof(CompareTotals) / sizeof(U64);
  U64* const out_words = (U64*)out;
  if (threadIdx.x > 0 && threadIdx.x < kWords) {
    U64 sum = 0;
    for (int p = 0; p < num_partials; ++p) sum += words[p * kStride + threadIdx.x];
    out_words[threadIdx.x] = sum;
  }
  if (threadIdx.x != 0) return;
  Tally total;
  for (int p = 0; p < num_partials; ++p) {
    total.sum_sq += partials[p].sum_normalised_sq;
    if (partials[p].first_wrong_index < total.first_wrong) total.first_wrong = partials[p].first_wrong_index;
    total.Worst(partials[p].worst_ratio, partials[p].worst_index);
  }
  out->num_elements = n;
  out->first_wrong_index = total.first_wrong;
  out->worst_index = total.worst_index;
  out->worst_ratio = total.worst_index == kNone ? 0.0 : total.worst_ratio;
  out->sum_normalised_sq = total.sum_sq;
  out->first_wrong_truth = 0;
  out->first_wrong_candidate = 0;
  out->worst_truth = 0;
  out->worst_candidate = 0;
  out->worst_err = 0;
  out->worst_tol = 0;
  if (total.first_wrong != kNone) {
    out->first_wrong_truth = LoadAnyAsDouble(truth, truth_type, total.first_wrong);
    out->first_wrong_candidate = LoadAnyAsDouble(candidate, type, total.first_wrong);
  }
  if (total.worst_index != kNone) {
    const double t = LoadAnyAsDouble(truth, truth_type, total.worst_index);
    const double v = LoadAnyAsDouble(candidate, type, total.worst_index);
    out->worst_truth = t;
    out->worst_candidate = v;
    if (limits == nullptr) {
      out->worst_err = total.worst_ratio;
    } else if (IsFinite(t)) {
      out->worst_err = ElementError(t, v, limits->max_finite);
      const double wide = limits->bucket_tol[BucketOf(t)] * factor;
      out->worst_tol = (wide < 0x1p1023 ? wide : 0x1p1023) +
                       limits->rel_floor * factor * AbsOf(ClampToRange(t, limits->max_finite));
    } else {
      out->worst_err = Infinity();
    }
  }
}

// Error profile of an honest implementation. Each warp keeps a private table in dynamic shared memory and adds to it one
// distinct bucket at a time, so no atomic is needed: a warp of ordinary data spans about six binades.
struct ProfileTable {
  double max_err[kNumBuckets];
  double sum_sq_err[kNumBuckets];
  u32 count[kNumBuckets];
  u32 num_special;
  u32 num_dont_care;
};
static_assert(davinci::gpu::kProfileTableBytes == sizeof(ProfileTable));

namespace {

// All 32 lanes call this together. `bucket` < 0: the lane has no sample.
__device__ __forceinline__ void AddSamples(ProfileTable& table, int bucket, double err) {
  const int lane = threadIdx.x & 31;
  u32 pending = __ballot_sync(~0u, bucket >= 0);
  while (pending != 0) {
    const int leader = __ffs(pending) - 1;
    const int current = __shfl_sync(~0u, bucket, leader);
    const bool mine = bucket == current;
    const u32 members = __ballot_sync(~0u, mine);
    pending &= ~members;
    double sum = mine ? err * err : 0.0;
    double max = mine ? err : 0.0;
    for (int offset = 16; offset > 0; offset >>= 1) {
      sum += __shfl_down_sync(~0u, sum, offset);
      const double other = __shfl_down_sync(~0u, max, offset);
      max = other > max ? other : max;
    }
    if (lane == 0) {
      table.count[current] += __popc(members);
      table.sum_sq_err[current] += sum;
      if (max > table.max_err[current]) table.max_err[current] = max;
    }
  }
}

template <DType type>
__device__ __forceinline__ void ProfileFloats(const double* truth, const void* honest, U64 n,
                                              const DTypeLimits& limits, u8* dont_care,
                                              ProfileTable& table) {
  using Value = typename Stored<type>::Type;
  const Value* const values = (const Value*)honest;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  u32 special = 0;
  u32 skipped = 0;
  // The warp's lanes stay together: the loop is over the warp's first element.
  const U64 lane = threadIdx.x & 31;
  for (U64 base = (U64)blockIdx.x * blockDim.x + threadIdx.x - lane; base < n;
       base += kUnroll * stride) {
    double t[kUnroll];
    Value v[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const U64 at = base + k * stride + lane;
      t[k] = at < n ? truth[at] : 0.0;
      v[k] = at < n ? values[at] : Value(0);
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const U64 at = base + k * stride + lane;
      int bucket = -1;
      double err = 0;
      if (at < n) {
        const HonestKind kind = ClassifyHonest(t[k], Stored<type>::ToDouble(v[k]), limits, &err);
        if (kind == HonestKind::kSample) bucket = BucketOf(t[k]);
        special += kind == HonestKind::kSpecial;
        if (kind == HonestKind::kDontCare) {
          ++skipped;
          if (dont_care != nullptr) dont_care[at] = 1;
        }
      }
      AddSamples(table, bucket, err);
    }
  }
  special = WarpSum(special);
  skipped = WarpSum(skipped);
  if (lane == 0) {
    table.num_special = special;
    table.num_dont_care = skipped;
  }
}

}  // namespace

// partials: one ErrorProfile per block, overwritten.
extern "C" __global__ void __launch_bounds__(kProfileWarps * 32)
    dv_profile(const double* truth, const void* honest, int honest_type, int output_type, U64 n,
               u8* dont_care, ErrorProfile* partials) {
  extern __shared__ ProfileTable tables[];
  ProfileTable& table = tables[threadIdx.x >> 5];
  const int lane = threadIdx.x & 31;
  for (int b = lane; b < kNumBuckets; b += 32) {
    table.max_err[b] = 0;
    table.sum_sq_err[b] = 0;
    table.count[b] = 0;
  }
  __syncwarp();
  const DTypeLimits limits = LimitsOf((DType)output_type);
  switch ((DType)honest_type) {
    case DType::kF16: ProfileFloats<DType::kF16>(truth, honest, n, limits, dont_care, table); break;
    case DType::kBf16: ProfileFloats<DType::kBf16>(truth, honest, n, limits, dont_care, table); break;
    case DType::kF32: ProfileFloats<DType::kF32>(truth, honest, n, limits, dont_care, table); break;
    case DType::kF64: ProfileFloats<DType::kF64>(truth, honest, n, limits, dont_care, table); break;
    default: break;
  }
  __syncthreads();
  ErrorProfile* const out = partials + blockIdx.x;
  for (int b = threadIdx.x; b < kNumBuckets; b += blockDim.x) {
    U64 count = 0;
    double max = 0;
    double sum = 0;
    for (int w = 0; w < kProfileWarps; ++w) {
      count += tables[w].count[b];
      sum += tables[w].sum_sq_err[b];
      max = tables[w].max_err[b] > max ? tables[w].max_err[b] : max;
    }
    out->count[b] = count;
    out->max_err[b] = max;
    out->sum_sq_err[b] = sum;
  }
  if (threadIdx.x == 0) {
    U64 special = 0;
    U64 skipped = 0;
    for (int w = 0; w < kProfileWarps; ++w) {
      special += tables[w].num_special;
      skipped += tables[w].num_dont_care;
    }
    out->num_special = special;
    out->num_dont_care = skipped;
  }
}

// One block of at least kNumBuckets threads: *profile += sum of the partials.
extern "C" __global__ void dv_profile_finish(const ErrorProfile* partials, int num_partials,
                                             ErrorProfile* profile) {
  for (int b = threadIdx.x; b < kNumBuckets; b += blockDim.x) {
    u64 count = profile->count[b];
    double max = profile->max_err[b];
    double sum = profile->sum_sq_err[b];
    for (int p = 0; p < num_partials; ++p) {
      count += partials[p].count[b];
      sum += partials[p].sum_sq_err[b];
      max = partials[p].max_err[b] > max ? partials[p].max_err[b] : max;
    }
    profile->count[b] = count;
    profile->max_err[b] = max;
    profile->sum_sq_err[b] = sum;
  }
  if (threadIdx.x == 0) {
    for (int p = 0; p < num_partials; ++p) {
      profile->num_special += partials[p].num_special;
      profile->num_dont_care += partials[p].num_dont_care;
    }
  }
}
// Peak probes: what this device really delivers, to set floors under measured times.

extern "C" __global__ void __launch_bounds__(512)
    dv_copy(const uint4* __restrict__ in, uint4* __restrict__ out, U64 words) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < words; i += 4 * stride) {
    const uint4 a = in[i];
    const uint4 b = in[i + stride];
    const uint4 c = in[i + 2 * stride];
    const uint4 d = in[i + 3 * stride];
    out[i] = a;
    out[i + stride] = b;
    out[i + 2 * stride] = c;
    out[i + 3 * stride] = d;
  }
  for (; i < words; i += stride) out[i] = in[i];
}

// 16 independent chains per thread, 2 operations per step; the result is stored only if it takes a value it cannot take.
extern "C" __global__ void __launch_bounds__(512) dv_fma_f32(float* out, int steps, float a, float b) {
  float x[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) x[k] = (float)(threadIdx.x + k) * 1e-3f;
  for (int s = 0; s < steps; ++s) {
#pragma unroll
    for (int k = 0; k < 16; ++k) x[k] = fmaf(x[k], a, b);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += x[k];
  if (sum == 123456789.0f) out[0] = sum;
}

// Does nothing: its event-timed duration is the floor of any launch.
extern "C" __global__ void dv_empty() {}
