// Comparison kernels: the rules of element_rules.h applied to whole buffers. Compiled by NVRTC after keyed.h,
// element_rules.h and compare_layout.h.
//
// Every kernel writes one partial result per block and a second, small kernel adds the partials in a fixed order: no
// floating-point atomics, so equal inputs give equal bits for a given grid.

using namespace davinci::numerics;
using davinci::gpu::CompareTotals;
using davinci::gpu::kCompareThreads;
using davinci::gpu::kProfileWarps;
using davinci::gpu::QuickPartial;

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
  __device__ __forceinline__ void Wrong(U64 index) {
    ++wrong;
    if (index < first_wrong) first_wrong = index;
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
  // Rare: truth is not finite, or the element is not compared.
  const auto judge_special = [&](U64 i, double t, double v, bool skip) {
    const ElementVerdict verdict =
        direct ? JudgeElementDirect(tolerance, t, v) : JudgeElement(tolerance, t, v, skip);
    const bool v_nan = IsNan(v);
    tally.nan_truth += IsNan(t);
    tally.nan_candidate += v_nan;
    tally.special_match += verdict.kind == ElementKind::kSpecialMatch;
    tally.dont_care += verdict.kind == ElementKind::kDontCare;
    if (verdict.kind != ElementKind::kSpecialWrong) return;
    ++tally.compared;
    scratch.histogram[RatioBin(verdict.ratio)][threadIdx.x] += 1;
    tally.Worst(verdict.ratio, i);
    tally.Wrong(i);
    tally.unexpected_nan += v_nan && !IsNan(t);
  };
  const auto judge = [&](U64 i, double t, double v, bool skip) {
    if (skip || !IsFinite(t)) return judge_special(i, t, v, skip);
    const ElementVerdict verdict = JudgeElement(tolerance, t, v, false);
    ++tally.compared;
    scratch.histogram[RatioBin(verdict.ratio)][threadIdx.x] += 1;
    if (verdict.ratio > tally.worst_ratio) {  // a thread's indices grow: the first of equals stays
      tally.worst_ratio = verdict.ratio;
      tally.worst_index = i;
    }
    const double normalised = t != 0 ? verdict.normalised : 0;
    tally.normalised += t != 0;
    tally.sum_sq += normalised * normalised;
    if (!verdict.wrong) return;
    tally.Wrong(i);
    tally.nan_candidate += IsNan(v);
    tally.unexpected_nan += IsNan(v);
  };
  // All loads of a round before the first use; one guarded round for body and tail keeps the code, and the time NVRTC
  // takes for it, half as long.
  for (U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += kUnroll * stride) {
    double t[kUnroll];
    Value v[kUnroll];
    bool skip[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const U64 at = i + k * stride;
      const U64 safe = at < n ? at : i;
      t[k] = direct ? Stored<type>::ToDouble(baselines[safe]) : truths[safe];
      v[k] = values[safe];
      skip[k] = !direct && dont_care != nullptr && dont_care[safe] != 0;
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const U64 at = i + k * stride;
      if (at < n) judge(at, t[k], Stored<type>::ToDouble(v[k]), skip[k]);
    }
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

// Quick acceptance (element_rules.h): one QuickPartial per block. A thread adds up a few thousand elements at most, so
// single precision is enough for its sum.
namespace {

template <DType type>
__device__ __forceinline__ float QuickValue(typename Stored<type>::Type v) {
  if constexpr (type == DType::kF32) return v;
  if constexpr (type == DType::kF16) return FloatOfF16(v);
  if constexpr (type == DType::kBf16) return FloatOfBf16(v);
}

struct QuickTally {
  float sum_sq = 0;
  u32 count = 0;
  bool refused = false;
};

template <DType type>
__device__ __forceinline__ void QuickFloats(const void* baseline, const void* candidate, U64 n,
                                            const QuickLimit* limits, float rel_floor,
                                            QuickTally& tally) {
  using Value = typename Stored<type>::Type;
  constexpr int kPerWord = 16 / sizeof(Value);
  const auto judge = [&](Value b, Value v) {
    const float expected = QuickValue<type>(b);
    const int bucket = QuickBucketOf(expected);
    const float error = QuickError(expected, QuickValue<type>(v));
    tally.refused |= !IsQuicklyAccepted(limits[bucket], rel_floor, expected, error);
    const float normalised = error * limits[bucket].inv_rms;
    tally.sum_sq += normalised * normalised;
    tally.count += IsInQuickRms(expected, bucket);
  };
  const U64 thread = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  const bool aligned = (((U64)baseline | (U64)candidate) & 15) == 0;
  const U64 words = aligned ? n / kPerWord : 0;
  for (U64 i = thread; i < words; i += 2 * stride) {
    uint4 b[2], v[2];  // all loads of a round before the first use
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const U64 at = i + k * stride < words ? i + k * stride : i;
      b[k] = ((const uint4*)baseline)[at];
      v[k] = ((const uint4*)candidate)[at];
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (i + k * stride >= words) break;
      const Value* const expected = (const Value*)&b[k];
      const Value* const got = (const Value*)&v[k];
#pragma unroll
      for (int e = 0; e < kPerWord; ++e) judge(expected[e], got[e]);
    }
  }
  for (U64 i = words * kPerWord + thread; i < n; i += stride)
    judge(((const Value*)baseline)[i], ((const Value*)candidate)[i]);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kCompareThreads)
    dv_compare_quickly(const void* baseline, const void* candidate, int type, U64 n,
                       const Tolerance* tolerance, double factor, QuickPartial* partials) {
  static_assert(kCompareThreads == kQuickBuckets, "a thread fills in one bucket");
  __shared__ QuickLimit limits[kQuickBuckets];
  __shared__ double sums[kCompareThreads / 32];
  __shared__ U64 counts[kCompareThreads / 32];
  limits[threadIdx.x] = QuickLimitAt(*tolerance, factor, threadIdx.x);
  const float rel_floor = RoundedDown(tolerance->rel_floor * factor);
  __syncthreads();
  QuickTally tally;
  switch ((DType)type) {
    case DType::kF16: QuickFloats<DType::kF16>(baseline, candidate, n, limits, rel_floor, tally); break;
    case DType::kBf16: QuickFloats<DType::kBf16>(baseline, candidate, n, limits, rel_floor, tally); break;
    case DType::kF32: QuickFloats<DType::kF32>(baseline, candidate, n, limits, rel_floor, tally); break;
    default: tally.refused = true; break;
  }
  const double sum = WarpSum((double)tally.sum_sq);
  const U64 count = WarpSum((U64)tally.count);
  if ((threadIdx.x & 31) == 0) {
    sums[threadIdx.x >> 5] = sum;
    counts[threadIdx.x >> 5] = count;
  }
  const int refused = __syncthreads_or(tally.refused);
  if (threadIdx.x != 0) return;
  QuickPartial& out = partials[blockIdx.x];
  out.sum_sq = 0;
  out.count = 0;
  for (int w = 0; w < kCompareThreads / 32; ++w) {
    out.sum_sq += sums[w];
    out.count += counts[w];
  }
  out.refused = refused || rel_floor > 0.5f;
}

// One warp. *accepted: whether every block accepted, and all of them together by the RMS test.
extern "C" __global__ void __launch_bounds__(32)
    dv_compare_quickly_finish(const QuickPartial* partials, int num_partials, int type,
                              const Tolerance* tolerance, double factor, U64* accepted) {
  double sum_sq = 0;
  U64 count = 0;
  U64 refused = 0;
  for (int p = threadIdx.x; p < num_partials; p += 32) {
    sum_sq += partials[p].sum_sq;
    count += partials[p].count;
    refused += partials[p].refused;
  }
  sum_sq = WarpSum(sum_sq);
  count = WarpSum(count);
  refused = WarpSum(refused);
  if (threadIdx.x != 0) return;
  *accepted = refused == 0 && tolerance->dtype == type &&
              IsQuickRmsAccepted(sum_sq, count, tolerance->rms_multiple, factor);
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

// One warp. Adds the partials in a fixed order and looks up the values at the two indices. `limits` is null for integers.
extern "C" __global__ void __launch_bounds__(32)
    dv_compare_finish(const CompareTotals* partials, int num_partials, U64 n, const void* truth,
                      int truth_type, const void* candidate, int type, const Tolerance* limits,
                      double factor, CompareTotals* out) {
  constexpr int kWords = 9 + kNumRatioBins;  // the leading integers of CompareTotals
  constexpr int kStride = sizeof(CompareTotals) / sizeof(U64);
  const U64* const words = (const U64*)partials;
  U64* const out_words = (U64*)out;
  for (int k = 1; k < kWords; ++k) {
    U64 sum = 0;
    for (int p = threadIdx.x; p < num_partials; p += 32) sum += words[p * kStride + k];
    sum = WarpSum(sum);
    if (threadIdx.x == 0) out_words[k] = sum;
  }
  Tally total;
  for (int p = threadIdx.x; p < num_partials; p += 32) {
    total.sum_sq += partials[p].sum_normalised_sq;
    if (partials[p].first_wrong_index < total.first_wrong) total.first_wrong = partials[p].first_wrong_index;
    total.Worst(partials[p].worst_ratio, partials[p].worst_index);
  }
  total.sum_sq = WarpSum(total.sum_sq);
  for (int offset = 16; offset > 0; offset >>= 1) {
    const U64 first = __shfl_down_sync(~0u, total.first_wrong, offset);
    if (first < total.first_wrong) total.first_wrong = first;
    const double ratio = __shfl_down_sync(~0u, total.worst_ratio, offset);
    const U64 index = __shfl_down_sync(~0u, total.worst_index, offset);
    total.Worst(ratio, index);
  }
  if (threadIdx.x != 0) return;
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
  out->rms_limit = limits == nullptr ? 0.0 : limits->rms_multiple * factor;
  out->tolerance_dtype = limits == nullptr ? -1 : limits->dtype;
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
