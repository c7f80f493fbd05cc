#include "davinci/numerics/worker_abi.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <type_traits>

#include "davinci/numerics/memory_tools.h"

namespace {

using davinci::Result;
using davinci::Status;
using davinci::StatusCode;
using davinci::numerics::CompareOptions;
using davinci::numerics::CompareResult;
using davinci::numerics::DType;

static_assert(std::is_standard_layout_v<dv_profile> && std::is_standard_layout_v<dv_tolerance>);
static_assert(sizeof(dv_profile) == size_t{8} * (3 * 321 + 2));
static_assert(sizeof(dv_tolerance) == size_t{8} * (2 * 321 + 5));
static_assert(sizeof(dv_options) == size_t{8} * 6);
static_assert(sizeof(dv_result) == size_t{8} * 29);

thread_local char last_error[512] = "";

int Fail(const Status& status) {
  const std::string text = status.ToString();
  const size_t length = std::min(text.size(), sizeof(last_error) - 1);
  std::memcpy(last_error, text.data(), length);
  last_error[length] = '\0';
  return status.code() == StatusCode::kResourceExhausted ? -2 : -1;
}

// The C boundary: no exception may leave (std::bad_alloc of a message, for one).
template <typename Body>
int Guarded(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    std::strcpy(last_error, "out of memory");  // NOLINT
    return -2;
  } catch (const std::exception& error) {
    return Fail(davinci::Internal(error.what()));
  }
}

int Store(const Result<CompareResult>& compared, dv_result* result) {
  if (!compared.ok()) return Fail(compared.status());
  *result = *compared;
  return 0;
}

}  // namespace

extern "C" {

int dv_compare_abi_version(void) { return 1; }

size_t dv_sizeof(int which) {
  switch (which) {
    case 0:
      return sizeof(dv_profile);
    case 1:
      return sizeof(dv_tolerance);
    case 2:
      return sizeof(dv_options);
    case 3:
      return sizeof(dv_result);
    default:
      return 0;
  }
}

const char* dv_last_error(void) { return last_error; }

int dv_profile_accumulate(const double* truth, const void* honest, int honest_dtype,
                          int output_dtype, int64_t n, dv_profile* profile, uint8_t* dont_care,
                          int num_threads) {
  return Guarded([&] {
    const Status status = davinci::numerics::AccumulateProfile(truth, honest, DType{honest_dtype},
                                                               DType{output_dtype}, n, profile,
                                                               dont_care, num_threads);
    return status.ok() ? 0 : Fail(status);
  });
}

int dv_profile_is_thin(const dv_profile* profile) {
  return profile == nullptr || davinci::numerics::ProfileIsThin(*profile) ? 1 : 0;
}

void dv_default_options(int output_dtype, dv_options* options) {
  if (options != nullptr)
    *options = davinci::numerics::DefaultToleranceOptions(DType{output_dtype});
}

int dv_tolerance_build(const dv_profile* profile, int output_dtype, const dv_options* options,
                       dv_tolerance* tolerance) {
  return Guarded([&] {
    if (profile == nullptr || tolerance == nullptr)
      return Fail(davinci::InvalidArgument("dv_tolerance_build: null profile or tolerance"));
    const DType dtype{output_dtype};
    const Result<dv_tolerance> built = davinci::numerics::BuildTolerance(
        *profile, dtype,
        options != nullptr ? *options : davinci::numerics::DefaultToleranceOptions(dtype));
    if (!built.ok()) return Fail(built.status());
    *tolerance = *built;
    return 0;
  });
}

int dv_compare(const double* truth, const void* candidate, int dtype, int64_t n,
               const dv_tolerance* tolerance, const uint8_t* dont_care,
               double max_unverified_fraction, int num_threads, dv_result* result) {
  return Guarded([&] {
    if (tolerance == nullptr || result == nullptr)
      return Fail(davinci::InvalidArgument("dv_compare: null tolerance or result"));
    const CompareOptions options{.dont_care = dont_care,
                                 .max_unverified_fraction = max_unverified_fraction,
                                 .num_threads = num_threads};
    return Store(davinci::numerics::Compare(truth, candidate, DType{dtype}, n, *tolerance, options),
                 result);
  });
}

int dv_compare_direct(const void* baseline, const void* candidate, int dtype, int64_t n,
                      const dv_tolerance* tolerance, double max_unverified_fraction,
                      int num_threads, dv_result* result) {
  return Guarded([&] {
    if (tolerance == nullptr || result == nullptr)
      return Fail(davinci::InvalidArgument("dv_compare_direct: null tolerance or result"));
    const CompareOptions options{.dont_care = nullptr,
                                 .max_unverified_fraction = max_unverified_fraction,
                                 .num_threads = num_threads};
    return Store(
        davinci::numerics::CompareDirect(baseline, candidate, DType{dtype}, n, *tolerance, options),
        result);
  });
}

int dv_accepts(const void* baseline, const void* candidate, int dtype, int64_t n,
               const dv_tolerance* tolerance, int num_threads, int* accepted) {
  return Guarded([&] {
    if (tolerance == nullptr || accepted == nullptr)
      return Fail(davinci::InvalidArgument("dv_accepts: null tolerance or answer"));
    const Result<bool> looked = davinci::numerics::AcceptsQuickly(baseline, candidate, DType{dtype},
                                                                  n, *tolerance, num_threads);
    if (!looked.ok()) return Fail(looked.status());
    *accepted = *looked ? 1 : 0;
    return 0;
  });
}

int dv_compare_integers(const int64_t* truth, const void* const* honest, int num_honest,
                        const void* candidate, int dtype, int64_t n, double max_wrong_fraction,
                        int num_threads, dv_result* result) {
  return Guarded([&] {
    if (result == nullptr)
      return Fail(davinci::InvalidArgument("dv_compare_integers: null result"));
    return Store(
        davinci::numerics::CompareIntegers(truth, honest, num_honest, candidate, DType{dtype}, n,
                                           max_wrong_fraction, num_threads),
        result);
  });
}

int dv_compare_integers_direct(const void* baseline, const void* candidate, int dtype, int64_t n,
                               double max_wrong_fraction, int num_threads, dv_result* result) {
  return Guarded([&] {
    if (result == nullptr)
      return Fail(davinci::InvalidArgument("dv_compare_integers_direct: null result"));
    return Store(davinci::numerics::CompareIntegersDirect(baseline, candidate, DType{dtype}, n,
                                                          max_wrong_fraction, num_threads),
                 result);
  });
}

size_t dv_describe_result(const dv_result* result, int dtype, char* text, size_t capacity) {
  if (result == nullptr) return 0;
  size_t length = 0;
  Guarded([&] {
    const std::string sentence = davinci::numerics::DescribeResult(*result, DType{dtype});
    length = sentence.size();
    if (text != nullptr && capacity > 0) {
      const size_t kept = std::min(length, capacity - 1);
      std::memcpy(text, sentence.data(), kept);
      text[kept] = '\0';
    }
    return 0;
  });
  return length;
}

uint64_t dv_checksum(const void* data, size_t num_bytes, uint64_t key, int num_threads) {
  return davinci::numerics::KeyedChecksum(data, num_bytes, key, num_threads);
}

void dv_copy(void* target, const void* source, size_t num_bytes, int num_threads) {
  davinci::numerics::CopyBytes(target, source, num_bytes, num_threads);
}

int dv_same(const void* left, const void* right, size_t num_bytes, int num_threads) {
  return davinci::numerics::SameBytes(left, right, num_bytes, num_threads) ? 1 : 0;
}

int dv_flush_lines(const void* data, size_t num_bytes) {
  return davinci::numerics::FlushCacheLines(data, num_bytes) ? 1 : 0;
}

}  // extern "C"
