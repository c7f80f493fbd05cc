// Error profiles of honest implementations and the tolerances made from them. The rules are in
// element_rules.h.
//
// Use: AccumulateProfile once per honest variant (the reference in the task's precision; with
// permuted reductions; the fp64 reference on inputs perturbed by one ulp ...), then BuildTolerance,
// then Compare (compare.h). Outputs of few elements need several variants: one scalar's honest
// error may be tiny by luck. ProfileIsThin says so; below kMinPooledSamples samples BuildTolerance
// assumes at least half an ulp of honest error. For fp64 tasks truth and reference are the same
// arithmetic: profile the reference on perturbed inputs against the truth.
//
// Threads: functions use up to `num_threads` threads (<= 0: all cores) and fall back to fewer when
// none can be started. Results do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "davinci/base/status.h"
#include "davinci/numerics/element_rules.h"

namespace davinci::numerics {

const char* DTypeName(DType dtype);
// Bytes of one element; 0 for an unknown number.
int DTypeBytes(DType dtype);
bool IsFloating(DType dtype);

// Adds n samples. `honest` is stored as `honest_dtype` (fp64 is allowed for any output), errors are
// taken in the range of `output_dtype`. `dont_care` (n bytes or null) is or-ed with 1 where the
// honest value contradicts the truth about finiteness; zero it before the first variant and hand it
// to Compare.
Status AccumulateProfile(const double* truth, const void* honest, DType honest_dtype,
                         DType output_dtype, int64_t n, ErrorProfile* profile, uint8_t* dont_care,
                         int num_threads);

uint64_t NumSamples(const ErrorProfile& profile);
// Too few samples to trust the maximum; add variants.
bool ProfileIsThin(const ErrorProfile& profile);

// Where terms differ by orders of magnitude one fp32 loop errs by more, always to one side, because
// what is smaller than half an ulp of the sum so far is lost. So from kLoopTerms on
// kLoopUlps * sqrt(terms) ulps of the element are always allowed, as for kMostLoopTerms at most.
// Inputs rounded to fp16 err by 7 times that at 4,096 normal terms, by 2 times at 65,536. Numbers
// drawn from 1e-4 to 1e4 need kLoopUlpsOfMagnitudes: nearly all terms of a variance may be lost
// there (1.3e-4 of it in one loop of 16,384), and sloppiness shows elsewhere.
inline constexpr double kLoopUlps = 1.3;
inline constexpr double kLoopUlpsOfMagnitudes = 10;
inline constexpr double kLoopTerms = 1024;
inline constexpr double kMostLoopTerms = 65536;

struct ToleranceOptions {
  double multiple;          // of the pooled maximal honest error
  double rms_multiple;      // of the honest RMS error, per bucket
  double floor_ulps;        // always allowed, in ulps of the element
  double scale_floor_ulps;  // always allowed, in ulps of the median nonzero |truth|
  double terms = 1;         // numbers summed up into one output, about; 1: not known to be a sum
  double spread = 0;        // not 0: the terms differ by orders of magnitude
};

// Long sums of fp32 and fp64. An honest candidate may add its terms up one after the other, the
// reference adds them in a tree: the error of the first grows like sqrt(terms) times the other's
// (measured: 69 and 36 times at 65,536 uniform and normal terms, 393 and 122 at a million; twice
// that where nudged references, which err by almost nothing, are half of the profile). So from
// kSerialTerms on the honest error counts sqrt(terms / kSerialTerms) times, at most kMaxWidening
// times. Not the part of it above kTreeUlps: a reference that errs by more is no tree, and widening
// its error would let half-precision accumulators pass (600 times the tree at 65,536 uniform terms
// in 1,024 fp16 accumulators, 2,250 at a million; tolerance_reduction_test.cc). Where a profile is
// thin, as for a loss, whose honest error may be tiny by luck, a quarter of kSerialTerms will do.
inline constexpr double kSerialTerms = 4096;
inline constexpr double kMaxWidening = 8;
inline constexpr double kTreeUlps = 16;
//               multiple  rms  floor_ulps  scale_floor_ulps
//   fp32, fp64       128    128      4             8
//   fp16, bf16         8      4      2             0.5
//
// Why (tolerance_calibration_test.cc prints the whole table; dot products of 64..65,536 terms, RMS
// ratios): a serial IEEE sum reaches 79 times the error of a pairwise one on uniform data and 41
// times on signed data. TF32 inputs never fall below 218 times the honest error on signed data,
// whichever honest is taken, bf16 inputs not below 1,600. Single elements of serial sums reach 0.55
// of their tolerance. On positive data of 16,384 terms and more TF32 with rounding is as accurate
// as a serial fp32 sum, so no limit separates the two there: that is what signed inputs are for.
ToleranceOptions DefaultToleranceOptions(DType output_dtype);

// From here on, of the larger of the element's size and the median, honest error is what half
// precision or a jump inside the reference makes: no other honest order of summation is a hundred
// times worse, and what is beyond it counts with the multiples of bfloat16.
inline constexpr double kCoarse = 0x1p-11;

// Fails for integer types (they are compared exactly), for an empty profile of a non-empty output
// (no samples and no specials at all) and for negative or non-finite options.
Result<Tolerance> BuildTolerance(const ErrorProfile& profile, DType output_dtype,
                                 const ToleranceOptions& options);

// For candidate against baseline: both may be wrong, so every limit is multiplied by `factor` (2 by
// default).
Tolerance WidenTolerance(const Tolerance& tolerance, double factor);

}  // namespace davinci::numerics
