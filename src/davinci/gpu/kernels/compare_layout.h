// What host code and comparison kernels agree on. Compiled by the host and, as text behind
// element_rules.h, by NVRTC.
#pragma once

#if !defined(__CUDACC_RTC__)
#include "davinci/numerics/element_rules.h"
#endif

namespace davinci::gpu {

constexpr int kErrorProfileBytes = sizeof(numerics::ErrorProfile);
constexpr int kToleranceBytes = sizeof(numerics::Tolerance);

constexpr int kCompareThreads = 256;  // of a comparing block

// Warps of a profiling block, and its shared memory: a table of all buckets for each warp, and for
// each thread a column of cells, one for each of the buckets that most of its elements fall into.
// More cells catch more of them, fewer let three blocks share a multiprocessor: 32 and 18 of them
// read 77 and 115 G normal numbers a second on an H200.
constexpr int kProfileWarps = 4;
constexpr int kProfileTableBytes = (20 * numerics::kNumBuckets + 8 + 7) / 8 * 8;
constexpr int kProfileCellBytes = 20 * 32 * kProfileWarps;
constexpr int kMostProfileCells = 18;

// Plain totals over all elements; the verdict is made from them by the judge.
struct CompareTotals {
  unsigned long long num_elements;
  unsigned long long
      num_compared;  // judged: neither "don't care" nor a special value as it must be
  unsigned long long num_wrong;
  unsigned long long num_dont_care;
  unsigned long long num_special_match;  // truth NaN or Inf, candidate the same
  unsigned long long num_nan_truth;
  unsigned long long num_nan_candidate;
  unsigned long long
      num_unexpected_nan;             // candidate NaN where the truth is not and the element counts
  unsigned long long num_normalised;  // elements the RMS test rests on
  unsigned long long
      ratio_histogram[numerics::kNumRatioBins];  // of err/tol, compared elements only
  unsigned long long first_wrong_index;          // ~0: none
  unsigned long long worst_index;  // lowest index of the largest err/tol; ~0: nothing was compared
  double worst_ratio;
  double sum_normalised_sq;  // of err / honest RMS of the element's bucket
  // Values at the two indices; integers are rounded to double.
  double first_wrong_truth;
  double first_wrong_candidate;
  double worst_truth;
  double worst_candidate;
  double worst_err;
  double worst_tol;
  // Read from the tolerance that was used; 0 and -1 for integers.
  double rms_limit;
  long long tolerance_dtype;
};

// What one block says about quick acceptance.
struct QuickPartial {
  double sum_sq;
  unsigned long long count;
  unsigned long long refused;  // 0: no element was
};

}  // namespace davinci::gpu
