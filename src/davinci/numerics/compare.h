// The verdict on a whole output: candidate against truth, candidate against baseline, integers,
// input checksums.
//
// Everything reads plain memory of this process; pointers need only the alignment of their element
// type, sizes are in elements. Nothing is kept after return. Threads: see tolerance.h. A wrong
// candidate is a CompareResult; a Status is a caller's mistake (null pointer, unknown type, a
// tolerance built for another type).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "davinci/numerics/tolerance.h"

namespace davinci::numerics {

// Bits of CompareResult::failed_criteria.
enum FailedCriterion : int {
  kFailedElements = 1,  // some element is outside its tolerance
  kFailedRms = 2,       // each element alone may be tolerable, all together are not
  kFailedUnverified =
      4,  // too many elements could not be judged: says something about the task, not the candidate
};

// Plain data, shared with Python through worker_abi.h.
struct CompareResult {
  int passed;           // failed_criteria == 0
  int failed_criteria;  // FailedCriterion bits
  int64_t n;
  int64_t num_wrong;
  int64_t num_dont_care;
  int64_t num_special_match;  // truth NaN/Inf, candidate the same
  int64_t num_nan_truth;      // elements whose truth (baseline) is NaN
  int64_t num_nan_candidate;
  int64_t num_unexpected_nan;  // candidate NaN where the truth is not and the element counts
  int64_t first_wrong_index;   // -1: none
  double first_wrong_truth;
  double first_wrong_candidate;
  int64_t worst_index;  // largest err/tol; -1: nothing was compared
  double worst_err;
  double worst_tol;
  double worst_truth;
  double worst_candidate;
  double max_ratio;  // err/tol at worst_index
  double rms_ratio;  // normalised RMS error, 1 = like the honest implementation
  double rms_limit;
  int64_t ratio_histogram[kNumRatioBins];  // of err/tol, edges RatioEdge(); compared elements only
};

struct CompareOptions {
  const uint8_t* dont_care = nullptr;    // n bytes from AccumulateProfile, or null
  double max_unverified_fraction = 0.5;  // more "don't care" than this: kFailedUnverified
  int num_threads = 1;
};

// Floating-point candidate against fp64 truth.
Result<CompareResult> Compare(const double* truth, const void* candidate, DType dtype, int64_t n,
                              const Tolerance& tolerance, const CompareOptions& options);

// Floating-point candidate against the baseline's output of the same type; `tolerance` as built for
// the truth, widened here by 2. options.dont_care must be null: a non-finite baseline element is
// don't care unless the candidate agrees.
Result<CompareResult> CompareDirect(const void* baseline, const void* candidate, DType dtype,
                                    int64_t n, const Tolerance& tolerance,
                                    const CompareOptions& options);

// Whether all is well at a glance: true only for what CompareDirect passes. False says nothing; ask
// CompareDirect then. Always false for types other than f32, bf16 and f16. At the speed of memory
// (element_rules.h, "Quick acceptance").
Result<bool> AcceptsQuickly(const void* baseline, const void* candidate, DType dtype, int64_t n,
                            const Tolerance& tolerance, int num_threads);

// Integers and bool: an element must equal the truth or any honest variant (argmax over nearly
// equal values has several right answers). Variants are stored like the candidate. A bool stored as
// anything but 0 or 1 is wrong. `max_wrong_fraction` of the elements may differ (0 = exact); the
// result fields in double hold the integers rounded.
Result<CompareResult> CompareIntegers(const int64_t* truth, const void* const* honest,
                                      int num_honest, const void* candidate, DType dtype, int64_t n,
                                      double max_wrong_fraction, int num_threads);
// The same against the baseline's output only.
Result<CompareResult> CompareIntegersDirect(const void* baseline, const void* candidate,
                                            DType dtype, int64_t n, double max_wrong_fraction,
                                            int num_threads);

// One line for a person or a model: what differs most and where.
std::string DescribeResult(const CompareResult& result, DType dtype);

}  // namespace davinci::numerics
