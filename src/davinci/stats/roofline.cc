#include "davinci/stats/roofline.h"

#include <algorithm>
#include <cmath>

namespace davinci::stats {
namespace {

bool IsAmount(double x) { return std::isfinite(x) && x >= 0; }
bool IsRate(double x) { return std::isfinite(x) && x > 0; }

Status Check(const TaskWork& work, double flops_per_second) {
  if (!IsAmount(work.read_bytes) || !IsAmount(work.written_bytes) || !IsAmount(work.flops))
    return InvalidArgument("roofline: bytes and flops must be finite and not negative");
  if (!IsAmount(flops_per_second) || (work.flops > 0 && flops_per_second == 0))
    return InvalidArgument(
        "roofline: the device's rate of arithmetic is missing; measure it first");
  return Status::Ok();
}

Roofline SlowerOf(double memory_seconds, double compute_seconds) {
  return {memory_seconds, compute_seconds, std::max(memory_seconds, compute_seconds),
          memory_seconds >= compute_seconds};
}

double ComputeSeconds(const TaskWork& work, double flops_per_second) {
  return work.flops > 0 ? work.flops / flops_per_second : 0.0;
}

}  // namespace

Result<Roofline> ComputeAttainable(const TaskWork& work, const AttainableRates& rates) {
  DAVINCI_RETURN_IF_ERROR(Check(work, rates.flops));
  if (!IsRate(rates.read_bytes) || !IsRate(rates.write_bytes) || !IsRate(rates.copy_bytes))
    return InvalidArgument("roofline: the device's rates are missing; measure them first");
  const double paired = std::min(work.read_bytes, work.written_bytes);
  const double memory_seconds = 2 * paired / rates.copy_bytes +
                                (work.read_bytes - paired) / rates.read_bytes +
                                (work.written_bytes - paired) / rates.write_bytes;
  return SlowerOf(memory_seconds, ComputeSeconds(work, rates.flops));
}

Result<Roofline> ComputeImpossible(const TaskWork& work, const DevicePeaks& peaks) {
  DAVINCI_RETURN_IF_ERROR(Check(work, peaks.flops_per_second));
  if (!IsAmount(peaks.cache_bytes) || !IsRate(peaks.bytes_per_second))
    return InvalidArgument("roofline: the device's peaks are missing; measure them first");
  const double cached_writes = std::min(work.written_bytes, peaks.cache_bytes);
  return SlowerOf((work.read_bytes + work.written_bytes - cached_writes) / peaks.bytes_per_second,
                  ComputeSeconds(work, peaks.flops_per_second));
}

}  // namespace davinci::stats
