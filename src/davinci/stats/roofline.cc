#include "davinci/stats/roofline.h"

#include <algorithm>
#include <cmath>

namespace davinci::stats {
namespace {

bool IsAmount(double x) { return std::isfinite(x) && x >= 0; }

}  // namespace

Result<Roofline> ComputeRoofline(const TaskWork& work, const DevicePeaks& peaks) {
  if (!IsAmount(work.read_bytes) || !IsAmount(work.written_bytes) || !IsAmount(work.flops))
    return InvalidArgument("roofline: bytes and flops must be finite and not negative");
  if (!IsAmount(peaks.cache_bytes) || !std::isfinite(peaks.bytes_per_second) ||
      !(peaks.bytes_per_second > 0) || !IsAmount(peaks.flops_per_second) ||
      (work.flops > 0 && !(peaks.flops_per_second > 0)))
    return InvalidArgument("roofline: the device's peaks are missing; measure them first");
  // One cache cannot hide the same capacity twice: what stays resident of reads is not there for
  // writes.
  const double cached_reads =
      work.inputs_are_cold ? 0.0 : std::min(work.read_bytes, peaks.cache_bytes);
  const double cached_writes = std::min(work.written_bytes, peaks.cache_bytes - cached_reads);
  Roofline roofline;
  roofline.memory_seconds = (work.read_bytes - cached_reads + work.written_bytes - cached_writes) /
                            peaks.bytes_per_second;
  roofline.compute_seconds = work.flops > 0 ? work.flops / peaks.flops_per_second : 0.0;
  roofline.floor_seconds = std::max(roofline.memory_seconds, roofline.compute_seconds);
  roofline.memory_bound = roofline.memory_seconds >= roofline.compute_seconds;
  return roofline;
}

Result<Achieved> ComputeAchieved(const TaskWork& work, const DevicePeaks& peaks, double seconds) {
  if (!std::isfinite(seconds) || !(seconds > 0))
    return InvalidArgument("roofline: the time must be positive and finite");
  DAVINCI_ASSIGN_OR_RETURN(const Roofline roofline, ComputeRoofline(work, peaks));
  Achieved achieved;
  achieved.bytes_per_second = (work.read_bytes + work.written_bytes) / seconds;
  achieved.flops_per_second = work.flops / seconds;
  achieved.bandwidth_fraction = achieved.bytes_per_second / peaks.bytes_per_second;
  achieved.flops_fraction =
      peaks.flops_per_second > 0 ? achieved.flops_per_second / peaks.flops_per_second : 0.0;
  achieved.floor_fraction = roofline.floor_seconds / seconds;
  return achieved;
}

bool IsBelowFloor(double seconds, const Roofline& roofline, double margin) {
  return !(seconds >= roofline.floor_seconds * (1 - margin));
}

}  // namespace davinci::stats
