// Results of the comparison kernels as they lie in device memory. Compiled by the host and, as text, by NVRTC; includes
// nothing.
#pragma once

namespace davinci::gpu {

constexpr int kCompareHistogramBins = 10;

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
