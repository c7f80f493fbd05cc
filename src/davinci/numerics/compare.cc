#include "davinci/numerics/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>

#include "davinci/numerics/element_load.h"
#include "davinci/numerics/parallel_blocks.h"
#include "davinci/numerics/simd_clones.h"

namespace davinci::numerics {
namespace {

constexpr int kChunk = 512;
constexpr double kDirectFactor = 2.0;

// What one block contributes; merged in block order.
struct Part {
  int64_t num_wrong = 0;
  int64_t num_dont_care = 0;
  int64_t num_special_match = 0;
  int64_t num_nan_truth = 0;
  int64_t num_nan_candidate = 0;
  int64_t num_unexpected_nan = 0;
  int64_t num_in_rms = 0;
  int64_t first_wrong_index = -1;
  int64_t worst_index = -1;
  double max_ratio = -1;
  double sum_sq_normalised = 0;
  int64_t at_most[kNumRatioBins - 1] = {};  // cumulative: ratio <= RatioEdge(i)
  int64_t num_compared = 0;
};

struct ChunkSums {
  int not_finite_truth;  // 0: the sums below hold; otherwise the chunk needs the slow path
  int num_wrong;
  int num_nan;
  int num_in_rms;
  double max_ratio;
  double sum_sq_normalised;
  int at_most[kNumRatioBins - 1];
};

// JudgeElement for finite truth, without branches. Fills ratios[].
DV_SIMD_CLONES void JudgeFiniteChunk(const Tolerance& tolerance, const double* truth,
                                     const double* values, int n, double* ratios, ChunkSums* sums) {
  const double max_finite = tolerance.max_finite;
  const double rel_floor = tolerance.rel_floor;
  const double* bucket_tol = tolerance.bucket_tol;
  const double* inv_rms = tolerance.inv_bucket_rms;
  double normalised[kChunk];
  int not_finite = 0;
  int num_nan = 0;
  int num_zero = 0;
#pragma omp simd reduction(| : not_finite) reduction(+ : num_nan, num_zero)
  for (int i = 0; i < n; ++i) {
    const double t = truth[i];
    const double v = values[i];
    const int bucket = BucketOf(t);
    const double ct = ClampToRange(t, max_finite);
    const double err = AbsOf(ClampToRange(v, max_finite) - ct);
    const double tol = bucket_tol[bucket] + rel_floor * AbsOf(ct);
    const double quotient = err / tol;
    ratios[i] = IsNan(quotient) ? Infinity() : quotient;
    const double in_rms = err * inv_rms[bucket];  // NormalisedError, zeros left out
    normalised[i] = bucket == kZeroBucket ? 0.0 : IsNan(in_rms) ? Infinity() : in_rms;
    not_finite |= static_cast<int>(!IsFinite(t));
    num_nan += static_cast<int>(IsNan(v));
    num_zero += static_cast<int>(bucket == kZeroBucket);
  }
  double max_ratio = -1;
  double sum_sq = 0;
  int wrong = 0;
#pragma omp simd reduction(max : max_ratio) reduction(+ : sum_sq, wrong)
  for (int i = 0; i < n; ++i) {
    max_ratio = ratios[i] > max_ratio ? ratios[i] : max_ratio;
    sum_sq += normalised[i] * normalised[i];
    wrong += static_cast<int>(!(ratios[i] <= 1.0));
  }
  for (int edge = 0; edge < kNumRatioBins - 1; ++edge) {
    const double limit = RatioEdge(edge);
    int count = 0;
#pragma omp simd reduction(+ : count)
    for (int i = 0; i < n; ++i) count += static_cast<int>(ratios[i] <= limit);
    sums->at_most[edge] = count;
  }
  sums->not_finite_truth = not_finite;
  sums->num_nan = num_nan;
  sums->num_in_rms = n - num_zero;
  sums->num_wrong = wrong;
  sums->max_ratio = max_ratio;
  sums->sum_sq_normalised = sum_sq;
}

void NoteWorst(Part& part, double ratio, int64_t index) {
  if (ratio > part.max_ratio) {
    part.max_ratio = ratio;
    part.worst_index = index;
  }
}

void AddElement(Part& part, const ElementVerdict& verdict, double truth, double value,
                int64_t index) {
  part.num_nan_truth += IsNan(truth);
  part.num_nan_candidate += IsNan(value);
  switch (verdict.kind) {
    case ElementKind::kDontCare:
      ++part.num_dont_care;
      return;
    case ElementKind::kSpecialMatch:
      ++part.num_special_match;
      return;
    case ElementKind::kSpecialWrong:
    case ElementKind::kCompared:
      break;
  }
  if (IsNan(value)) ++part.num_unexpected_nan;
  if (verdict.wrong) {
    ++part.num_wrong;
    if (part.first_wrong_index < 0) part.first_wrong_index = index;
  }
  ++part.num_compared;
  NoteWorst(part, verdict.ratio, index);
  for (int edge = RatioBin(verdict.ratio); edge < kNumRatioBins - 1; ++edge) ++part.at_most[edge];
  if (verdict.kind == ElementKind::kCompared && truth != 0) {
    ++part.num_in_rms;
    part.sum_sq_normalised += verdict.normalised * verdict.normalised;
  }
}

void AddFiniteChunk(Part& part, const ChunkSums& sums, const double* ratios, int n, int64_t at) {
  part.num_wrong += sums.num_wrong;
  part.num_nan_candidate += sums.num_nan;
  part.num_unexpected_nan += sums.num_nan;
  part.num_in_rms += sums.num_in_rms;
  part.num_compared += n;
  part.sum_sq_normalised += sums.sum_sq_normalised;
  for (int edge = 0; edge < kNumRatioBins - 1; ++edge) part.at_most[edge] += sums.at_most[edge];
  if (sums.max_ratio > part.max_ratio) {
    int i = 0;
    while (ratios[i] != sums.max_ratio) ++i;
    NoteWorst(part, sums.max_ratio, at + i);
  }
  if (sums.num_wrong > 0 && part.first_wrong_index < 0) {
    int i = 0;
    while (ratios[i] <= 1.0) ++i;
    part.first_wrong_index = at + i;
  }
}

bool AnySet(const uint8_t* mask, int n) {
  return mask != nullptr && std::any_of(mask, mask + n, [](uint8_t m) { return m != 0; });
}

// `truth_of(at, n, buffer)` returns n reference values starting at element `at`, possibly in
// `buffer`.
template <typename TruthOf>
Part JudgeBlock(const Tolerance& tolerance, const TruthOf& truth_of, const void* candidate,
                DType dtype, const uint8_t* dont_care, bool direct, int64_t begin, int64_t end) {
  Part part;
  double truth_buffer[kChunk], values[kChunk], ratios[kChunk];
  for (int64_t at = begin; at < end; at += kChunk) {
    const int n = static_cast<int>(std::min<int64_t>(kChunk, end - at));
    const double* truth = truth_of(at, n, truth_buffer);
    LoadDoubles(candidate, dtype, at, n, values);
    const uint8_t* mask = dont_care == nullptr ? nullptr : dont_care + at;
    if (!AnySet(mask, n)) {
      ChunkSums sums;
      JudgeFiniteChunk(tolerance, truth, values, n, ratios, &sums);
      if (sums.not_finite_truth == 0) {
        AddFiniteChunk(part, sums, ratios, n, at);
        continue;
      }
    }
    for (int i = 0; i < n; ++i) {
      const ElementVerdict verdict =
          direct ? JudgeElementDirect(tolerance, truth[i], values[i])
                 : JudgeElement(tolerance, truth[i], values[i], mask != nullptr && mask[i] != 0);
      AddElement(part, verdict, truth[i], values[i], at + i);
    }
  }
  return part;
}

void MergeInto(Part& total, const Part& part) {
  total.num_wrong += part.num_wrong;
  total.num_dont_care += part.num_dont_care;
  total.num_special_match += part.num_special_match;
  total.num_nan_truth += part.num_nan_truth;
  total.num_nan_candidate += part.num_nan_candidate;
  total.num_unexpected_nan += part.num_unexpected_nan;
  total.num_in_rms += part.num_in_rms;
  total.num_compared += part.num_compared;
  total.sum_sq_normalised += part.sum_sq_normalised;
  for (int edge = 0; edge < kNumRatioBins - 1; ++edge) total.at_most[edge] += part.at_most[edge];
  if (total.first_wrong_index < 0) total.first_wrong_index = part.first_wrong_index;
  if (part.worst_index >= 0) NoteWorst(total, part.max_ratio, part.worst_index);
}

CompareResult EmptyResult(int64_t n) {
  CompareResult result;
  std::memset(&result, 0, sizeof(result));
  result.n = n;
  result.first_wrong_index = -1;
  result.worst_index = -1;
  return result;
}

template <typename TruthOf>
Result<CompareResult> Run(const Tolerance& tolerance, const TruthOf& truth_of,
                          const void* candidate, DType dtype, int64_t n,
                          const CompareOptions& options, bool direct) {
  const BlockPlan plan = PlanBlocks(n, 1 << 16);
  std::unique_ptr<Part[]> parts(new (std::nothrow) Part[plan.num_blocks]);
  if (parts == nullptr) return ResourceExhausted("Compare: no memory for partial sums");
  ForEachBlock(plan, options.num_threads, [&](int block, int64_t begin, int64_t end) {
    parts[block] =
        JudgeBlock(tolerance, truth_of, candidate, dtype, options.dont_care, direct, begin, end);
  });
  Part total;
  for (int block = 0; block < plan.num_blocks; ++block) MergeInto(total, parts[block]);

  CompareResult result = EmptyResult(n);
  result.num_wrong = total.num_wrong;
  result.num_dont_care = total.num_dont_care;
  result.num_special_match = total.num_special_match;
  result.num_nan_truth = total.num_nan_truth;
  result.num_nan_candidate = total.num_nan_candidate;
  result.num_unexpected_nan = total.num_unexpected_nan;
  result.first_wrong_index = total.first_wrong_index;
  result.worst_index = total.worst_index;
  result.max_ratio = std::max(total.max_ratio, 0.0);
  int64_t below = 0;
  for (int edge = 0; edge < kNumRatioBins - 1; ++edge) {
    result.ratio_histogram[edge] = total.at_most[edge] - below;
    below = total.at_most[edge];
  }
  result.ratio_histogram[kNumRatioBins - 1] = total.num_compared - below;

  const auto value_at = [&](int64_t index) {
    double value = 0;
    LoadDoubles(candidate, dtype, index, 1, &value);
    return value;
  };
  const auto truth_at = [&](int64_t index) {
    double buffer = 0;
    return *truth_of(index, 1, &buffer);
  };
  if (result.first_wrong_index >= 0) {
    result.first_wrong_truth = truth_at(result.first_wrong_index);
    result.first_wrong_candidate = value_at(result.first_wrong_index);
  }
  if (result.worst_index >= 0) {
    result.worst_truth = truth_at(result.worst_index);
    result.worst_candidate = value_at(result.worst_index);
    const ElementVerdict worst =
        JudgeElement(tolerance, result.worst_truth, result.worst_candidate, false);
    result.worst_err = worst.err;
    result.worst_tol = worst.tol;
  }

  result.rms_limit = tolerance.rms_multiple;
  if (total.num_in_rms > 0)
    result.rms_ratio = std::sqrt(total.sum_sq_normalised / static_cast<double>(total.num_in_rms));
  if (result.num_wrong > 0) result.failed_criteria |= kFailedElements;
  if (!(result.rms_ratio <= result.rms_limit)) result.failed_criteria |= kFailedRms;
  if (static_cast<double>(result.num_dont_care) >
      options.max_unverified_fraction * static_cast<double>(n))
    result.failed_criteria |= kFailedUnverified;
  result.passed = result.failed_criteria == 0;
  return result;
}

constexpr int kQuickChunk = 2048;  // few enough to be added up in single precision

struct QuickTable {
  float tol[kQuickBuckets];
  float inv_rms[kQuickBuckets];
  // Of all finite buckets: what passes these limits passes its own.
  QuickLimit strictest;
  float rel_floor;
};

QuickTable MakeQuickTable(const Tolerance& tolerance) {
  QuickTable table;
  table.rel_floor = RoundedDown(std::min(tolerance.rel_floor * kDirectFactor, 0.5));
  table.strictest = QuickLimitAt(tolerance, kDirectFactor, 0);
  for (int exponent = 0; exponent < kQuickBuckets; ++exponent) {
    const QuickLimit limit = QuickLimitAt(tolerance, kDirectFactor, exponent);
    table.tol[exponent] = limit.tol;
    table.inv_rms[exponent] = limit.inv_rms;
    if (exponent == kQuickBuckets - 1) continue;
    table.strictest.tol = std::min(table.strictest.tol, limit.tol);
    table.strictest.inv_rms = std::max(table.strictest.inv_rms, limit.inv_rms);
  }
  return table;
}

struct QuickSums {
  int num_wrong;
  int num_in_rms;
  float sum_sq;
};

// Against the strictest limit of all: no table in the loop.
DV_SIMD_CLONES void LookStrictly(const QuickTable& table, const float* baseline,
                                 const float* values, int n, QuickSums* sums) {
  const QuickLimit limit = table.strictest;
  const float rel_floor = table.rel_floor;
  int wrong = 0;
  int in_rms = 0;
  float sum_sq = 0;
#pragma omp simd reduction(+ : wrong, in_rms, sum_sq)
  for (int i = 0; i < n; ++i) {
    const float b = baseline[i];
    const float error = QuickError(b, values[i]);
    const float normalised = error * limit.inv_rms;
    wrong += static_cast<int>(!IsQuicklyAccepted(limit, rel_floor, b, error));
    in_rms += static_cast<int>(IsInQuickRms(b, QuickBucketOf(b)));
    sum_sq += normalised * normalised;
  }
  *sums = {wrong, in_rms, sum_sq};
}

DV_SIMD_CLONES void LookByBucket(const QuickTable& table, const float* baseline,
                                 const float* values, int n, QuickSums* sums) {
  const float rel_floor = table.rel_floor;
  const float* tol = table.tol;
  const float* inv_rms = table.inv_rms;
  int wrong = 0;
  int in_rms = 0;
  float sum_sq = 0;
#pragma omp simd reduction(+ : wrong, in_rms, sum_sq)
  for (int i = 0; i < n; ++i) {
    const float b = baseline[i];
    const int bucket = QuickBucketOf(b);
    const float error = QuickError(b, values[i]);
    const float normalised = error * inv_rms[bucket];
    wrong += static_cast<int>(!IsQuicklyAccepted({tol[bucket], 0}, rel_floor, b, error));
    in_rms += static_cast<int>(IsInQuickRms(b, bucket));
    sum_sq += normalised * normalised;
  }
  *sums = {wrong, in_rms, sum_sq};
}

struct QuickPart {
  double sum_sq = 0;
  uint64_t count = 0;
};

// Floats of a chunk: where they lie, or converted into `buffer`.
const float* QuickValues(const void* data, DType dtype, int64_t at, int n, float* buffer) {
  if (dtype == DType::kF32) return static_cast<const float*>(data) + at;
  LoadHalves(static_cast<const u16*>(data) + at, dtype, n, buffer);
  return buffer;
}

Status CheckArguments(const void* truth, const void* candidate, DType dtype, int64_t n,
                      const Tolerance& tolerance) {
  if (n < 0 || (n > 0 && (truth == nullptr || candidate == nullptr)))
    return InvalidArgument("Compare: null data or negative size");
  if (!IsFloating(dtype))
    return InvalidArgument(std::string("Compare: ") + DTypeName(dtype) +
                           " is compared with CompareIntegers");
  if (tolerance.dtype != static_cast<int>(dtype) || !(tolerance.max_finite > 0))
    return InvalidArgument(std::string("Compare: the tolerance was not built for ") +
                           DTypeName(dtype));
  return Status::Ok();
}

struct IntegerPart {
  int64_t num_wrong = 0;
  int64_t first_wrong_index = -1;
  int64_t worst_index = -1;
  double max_distance = 0;
};

double Distance(int64_t a, int64_t b) {
  const uint64_t high = static_cast<uint64_t>(std::max(a, b));
  return static_cast<double>(high - static_cast<uint64_t>(std::min(a, b)));
}

template <typename TruthOf>
Result<CompareResult> RunIntegers(const TruthOf& truth_of, const void* const* honest,
                                  int num_honest, const void* candidate, DType dtype, int64_t n,
                                  double max_wrong_fraction, int num_threads) {
  const BlockPlan plan = PlanBlocks(n, 1 << 16);
  std::unique_ptr<IntegerPart[]> parts(new (std::nothrow) IntegerPart[plan.num_blocks]);
  if (parts == nullptr) return ResourceExhausted("CompareIntegers: no memory for partial sums");
  ForEachBlock(plan, num_threads, [&](int block, int64_t begin, int64_t end) {
    IntegerPart part;
    int64_t truth_buffer[kChunk], values[kChunk], variant[1];
    for (int64_t at = begin; at < end; at += kChunk) {
      const int count = static_cast<int>(std::min<int64_t>(kChunk, end - at));
      const int64_t* truth = truth_of(at, count, truth_buffer);
      LoadIntegers(candidate, dtype, at, count, values);
      for (int i = 0; i < count; ++i) {
        const bool valid = dtype != DType::kBool || (values[i] & ~int64_t{1}) == 0;
        if (valid && values[i] == truth[i]) continue;
        bool accepted = false;
        for (int h = 0; valid && h < num_honest && !accepted; ++h) {
          LoadIntegers(honest[h], dtype, at + i, 1, variant);
          accepted = variant[0] == values[i];
        }
        if (accepted) continue;
        ++part.num_wrong;
        if (part.first_wrong_index < 0) part.first_wrong_index = at + i;
        const double distance = Distance(values[i], truth[i]);
        if (part.worst_index < 0 || distance > part.max_distance) {
          part.worst_index = at + i;
          part.max_distance = distance;
        }
      }
    }
    parts[block] = part;
  });
  CompareResult result = EmptyResult(n);
  for (int block = 0; block < plan.num_blocks; ++block) {
    const IntegerPart& part = parts[block];
    result.num_wrong += part.num_wrong;
    if (result.first_wrong_index < 0) result.first_wrong_index = part.first_wrong_index;
    if (part.worst_index >= 0 && (result.worst_index < 0 || part.max_distance > result.worst_err)) {
      result.worst_index = part.worst_index;
      result.worst_err = part.max_distance;
    }
  }
  const auto fetch = [&](int64_t index, double* truth, double* value) {
    int64_t buffer = 0;
    *truth = static_cast<double>(*truth_of(index, 1, &buffer));
    LoadIntegers(candidate, dtype, index, 1, &buffer);
    *value = static_cast<double>(buffer);
  };
  if (result.first_wrong_index >= 0)
    fetch(result.first_wrong_index, &result.first_wrong_truth, &result.first_wrong_candidate);
  if (result.worst_index >= 0)
    fetch(result.worst_index, &result.worst_truth, &result.worst_candidate);
  result.max_ratio = result.num_wrong > 0 ? Infinity() : 0.0;
  result.ratio_histogram[0] = n - result.num_wrong;
  result.ratio_histogram[kNumRatioBins - 1] = result.num_wrong;
  if (static_cast<double>(result.num_wrong) > max_wrong_fraction * static_cast<double>(n))
    result.failed_criteria |= kFailedElements;
  result.passed = result.failed_criteria == 0;
  return result;
}

Status CheckIntegerArguments(const void* truth, const void* candidate, DType dtype, int64_t n,
                             double max_wrong_fraction) {
  if (n < 0 || (n > 0 && (truth == nullptr || candidate == nullptr)))
    return InvalidArgument("CompareIntegers: null data or negative size");
  if (IsFloating(dtype) || DTypeBytes(dtype) == 0)
    return InvalidArgument(std::string("CompareIntegers: ") + DTypeName(dtype) +
                           " is not an integer type");
  if (!(max_wrong_fraction >= 0 && max_wrong_fraction <= 1))
    return InvalidArgument("CompareIntegers: max_wrong_fraction must be within [0, 1]");
  return Status::Ok();
}

}  // namespace

Result<CompareResult> Compare(const double* truth, const void* candidate, DType dtype, int64_t n,
                              const Tolerance& tolerance, const CompareOptions& options) {
  DAVINCI_RETURN_IF_ERROR(CheckArguments(truth, candidate, dtype, n, tolerance));
  const auto truth_of = [truth](int64_t at, int, double*) { return truth + at; };
  return Run(tolerance, truth_of, candidate, dtype, n, options, /*direct=*/false);
}

Result<CompareResult> CompareDirect(const void* baseline, const void* candidate, DType dtype,
                                    int64_t n, const Tolerance& tolerance,
                                    const CompareOptions& options) {
  DAVINCI_RETURN_IF_ERROR(CheckArguments(baseline, candidate, dtype, n, tolerance));
  if (options.dont_care != nullptr)
    return InvalidArgument("CompareDirect: there is no truth that a mask could refer to");
  const auto baseline_of = [baseline, dtype](int64_t at, int count, double* buffer) {
    LoadDoubles(baseline, dtype, at, count, buffer);
    return static_cast<const double*>(buffer);
  };
  return Run(WidenTolerance(tolerance, kDirectFactor), baseline_of, candidate, dtype, n, options,
             /*direct=*/true);
}

Result<bool> AcceptsQuickly(const void* baseline, const void* candidate, DType dtype, int64_t n,
                            const Tolerance& tolerance, int num_threads) {
  DAVINCI_RETURN_IF_ERROR(CheckArguments(baseline, candidate, dtype, n, tolerance));
  if (dtype == DType::kF64) return false;
  const QuickTable table = MakeQuickTable(tolerance);
  const double rms_limit = tolerance.rms_multiple * kDirectFactor;
  const BlockPlan plan = PlanBlocks(n, 1 << 16);
  std::unique_ptr<QuickPart[]> parts(new (std::nothrow) QuickPart[plan.num_blocks]);
  if (parts == nullptr) return ResourceExhausted("AcceptsQuickly: no memory for partial sums");
  std::atomic<bool> refused{false};
  ForEachBlock(plan, num_threads, [&](int block, int64_t begin, int64_t end) {
    QuickPart part;
    float baseline_buffer[kQuickChunk], buffer[kQuickChunk];
    for (int64_t at = begin; at < end && !refused; at += kQuickChunk) {
      const int count = static_cast<int>(std::min<int64_t>(kQuickChunk, end - at));
      const float* expected = QuickValues(baseline, dtype, at, count, baseline_buffer);
      const float* values = QuickValues(candidate, dtype, at, count, buffer);
      QuickSums sums;
      LookStrictly(table, expected, values, count, &sums);
      // Sums at half of the limit never make the mean exceed it: no need to know them better.
      if (sums.num_wrong > 0 ||
          !(sums.sum_sq <= 0.25 * rms_limit * rms_limit * static_cast<double>(sums.num_in_rms)))
        LookByBucket(table, expected, values, count, &sums);
      if (sums.num_wrong > 0) refused = true;
      part.sum_sq += sums.sum_sq;
      part.count += static_cast<uint64_t>(sums.num_in_rms);
    }
    parts[block] = part;
  });
  if (refused) return false;
  QuickPart total;
  for (int block = 0; block < plan.num_blocks; ++block) {
    total.sum_sq += parts[block].sum_sq;
    total.count += parts[block].count;
  }
  return IsQuickRmsAccepted(total.sum_sq, total.count, tolerance.rms_multiple, kDirectFactor);
}

Result<CompareResult> CompareIntegers(const int64_t* truth, const void* const* honest,
                                      int num_honest, const void* candidate, DType dtype, int64_t n,
                                      double max_wrong_fraction, int num_threads) {
  DAVINCI_RETURN_IF_ERROR(CheckIntegerArguments(truth, candidate, dtype, n, max_wrong_fraction));
  if (num_honest < 0 || (num_honest > 0 && honest == nullptr))
    return InvalidArgument("CompareIntegers: honest variants announced but not given");
  const auto truth_of = [truth](int64_t at, int, int64_t*) { return truth + at; };
  return RunIntegers(truth_of, honest, num_honest, candidate, dtype, n, max_wrong_fraction,
                     num_threads);
}

Result<CompareResult> CompareIntegersDirect(const void* baseline, const void* candidate,
                                            DType dtype, int64_t n, double max_wrong_fraction,
                                            int num_threads) {
  DAVINCI_RETURN_IF_ERROR(CheckIntegerArguments(baseline, candidate, dtype, n, max_wrong_fraction));
  const auto baseline_of = [baseline, dtype](int64_t at, int count, int64_t* buffer) {
    LoadIntegers(baseline, dtype, at, count, buffer);
    return static_cast<const int64_t*>(buffer);
  };
  return RunIntegers(baseline_of, nullptr, 0, candidate, dtype, n, max_wrong_fraction, num_threads);
}

std::string DescribeResult(const CompareResult& r, DType dtype) {
  if (r.passed)
    return fmt::format(
        "{} {} elements within tolerance (worst {:.3g} of it, rms {:.3g} times honest, {} not "
        "judged)",
        r.n, DTypeName(dtype), r.max_ratio, r.rms_ratio, r.num_dont_care);
  std::string text;
  if (r.failed_criteria & kFailedElements) {
    text = fmt::format("{} of {} {} elements wrong; first at {}: expected {:.9g}, got {:.9g}",
                       r.num_wrong, r.n, DTypeName(dtype), r.first_wrong_index, r.first_wrong_truth,
                       r.first_wrong_candidate);
    text += fmt::format("; worst at {}: expected {:.9g}, got {:.9g}", r.worst_index, r.worst_truth,
                        r.worst_candidate);
    if (IsFloating(dtype))
      text += fmt::format(" (error {:.3g}, allowed {:.3g})", r.worst_err, r.worst_tol);
    if (r.num_unexpected_nan > 0) text += fmt::format("; {} unexpected NaN", r.num_unexpected_nan);
  }
  if (r.failed_criteria & kFailedRms) {
    if (!text.empty()) text += "; ";
    text += fmt::format(
        "{}the typical error (root mean square of all values) is {:.3g} times that of an honest "
        "implementation (limit {:.3g})",
        r.failed_criteria & kFailedElements ? "" : "no single value is outside, but together: ",
        r.rms_ratio, r.rms_limit);
  }
  if (r.failed_criteria & kFailedUnverified) {
    if (!text.empty()) text += "; ";
    text +=
        fmt::format("{} of {} elements could not be judged: the reference itself overflows there",
                    r.num_dont_care, r.n);
  }
  return text;
}

}  // namespace davinci::numerics
