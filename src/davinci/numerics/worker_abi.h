// The comparator as C functions for ctypes; linked into libdavinci_worker.so. Semantics:
// element_rules.h, tolerance.h, compare.h, memory_tools.h.
//
// All structs are plain data without implicit padding, laid out as declared in those headers:
//   dv_profile    u64 count[321]; f64 max_err[321]; f64 sum_sq_err[321];
//                 u64 num_special; u64 num_dont_care
//   dv_tolerance  f64 bucket_tol[321]; f64 inv_bucket_rms[321]; f64 rel_floor; f64 max_finite;
//                 f64 rms_multiple; u64 num_samples; i32 dtype; i32 reserved
//   dv_options    f64 multiple; f64 rms_multiple; f64 floor_ulps; f64 scale_floor_ulps;
//                 f64 terms; f64 spread
//   dv_result     i32 passed; i32 failed_criteria; i64 n; i64 num_wrong; i64 num_dont_care;
//                 i64 num_special_match; i64 num_nan_truth; i64 num_nan_candidate;
//                 i64 num_unexpected_nan; i64 first_wrong_index; f64 first_wrong_truth;
//                 f64 first_wrong_candidate; i64 worst_index; f64 worst_err; f64 worst_tol;
//                 f64 worst_truth; f64 worst_candidate; f64 max_ratio; f64 rms_ratio;
//                 f64 rms_limit; i64 ratio_histogram[10]
// Python may treat profile and tolerance as opaque buffers of dv_sizeof(0) and dv_sizeof(1) bytes;
// a profile starts as zeros.
// dtype: 0 f16, 1 bf16, 2 f32, 3 f64, 4 i8, 5 u8, 6 i16, 7 i32, 8 i64, 9 bool.
//
// Functions returning int: 0 done (a wrong candidate included: look at dv_result.passed), -1 the
// call was wrong, -2 out of memory; dv_last_error() then says why (per thread, valid until the next
// call on that thread). num_threads <= 0 means all cores. Nothing is kept after return; no function
// throws or prints.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "davinci/numerics/compare.h"

#define DV_EXPORT __attribute__((visibility("default")))

extern "C" {

using dv_profile = davinci::numerics::ErrorProfile;
using dv_tolerance = davinci::numerics::Tolerance;
using dv_options = davinci::numerics::ToleranceOptions;
using dv_result = davinci::numerics::CompareResult;

// Rises with every incompatible change of this file.
DV_EXPORT int dv_compare_abi_version(void);
// Size of dv_profile (0), dv_tolerance (1), dv_options (2), dv_result (3), so that a ctypes mirror
// can check itself.
DV_EXPORT size_t dv_sizeof(int which);
DV_EXPORT const char* dv_last_error(void);

// Adds one honest variant; dont_care: n bytes, zeroed before the first variant, or NULL.
DV_EXPORT int dv_profile_accumulate(const double* truth, const void* honest, int honest_dtype,
                                    int output_dtype, int64_t n, dv_profile* profile,
                                    uint8_t* dont_care, int num_threads);
// 1 when more honest variants are needed for a trustworthy maximum.
DV_EXPORT int dv_profile_is_thin(const dv_profile* profile);
DV_EXPORT void dv_default_options(int output_dtype, dv_options* options);
// options NULL: the defaults.
DV_EXPORT int dv_tolerance_build(const dv_profile* profile, int output_dtype,
                                 const dv_options* options, dv_tolerance* tolerance);
DV_EXPORT int dv_compare(const double* truth, const void* candidate, int dtype, int64_t n,
                         const dv_tolerance* tolerance, const uint8_t* dont_care,
                         double max_unverified_fraction, int num_threads, dv_result* result);
DV_EXPORT int dv_compare_direct(const void* baseline, const void* candidate, int dtype, int64_t n,
                                const dv_tolerance* tolerance, double max_unverified_fraction,
                                int num_threads, dv_result* result);
// *accepted: 1 when dv_compare_direct would pass; 0 says nothing.
DV_EXPORT int dv_accepts(const void* baseline, const void* candidate, int dtype, int64_t n,
                         const dv_tolerance* tolerance, int num_threads, int* accepted);
// honest: num_honest pointers to arrays stored like the candidate, or NULL with 0.
DV_EXPORT int dv_compare_integers(const int64_t* truth, const void* const* honest, int num_honest,
                                  const void* candidate, int dtype, int64_t n,
                                  double max_wrong_fraction, int num_threads, dv_result* result);
DV_EXPORT int dv_compare_integers_direct(const void* baseline, const void* candidate, int dtype,
                                         int64_t n, double max_wrong_fraction, int num_threads,
                                         dv_result* result);
// Writes a NUL-terminated sentence (cut to capacity) and returns the length it would have had.
DV_EXPORT size_t dv_describe_result(const dv_result* result, int dtype, char* text,
                                    size_t capacity);

DV_EXPORT uint64_t dv_checksum(const void* data, size_t num_bytes, uint64_t key, int num_threads);
DV_EXPORT void dv_copy(void* target, const void* source, size_t num_bytes, int num_threads);
DV_EXPORT int dv_same(const void* left, const void* right, size_t num_bytes, int num_threads);
// 1 done, 0 this processor cannot flush from user space.
DV_EXPORT int dv_flush_lines(const void* data, size_t num_bytes);
}
