// The fastest a task can possibly be on a device, and how near a time comes. Pure arithmetic on
// measured peaks.
//
// The floor counts only what cannot be avoided: every input byte that is not in a cache is read
// once, every output byte that does not fit the cache is written once, every floating-point
// operation the result needs is done once, at the best rate of the device. A time below the floor
// is not fast, it is wrong (work was skipped or the clock lies). A time above it proves nothing.
#pragma once

#include "davinci/base/status.h"

namespace davinci::stats {

// What the task must move and compute.
struct TaskWork {
  double read_bytes = 0;        // distinct input bytes the result depends on
  double written_bytes = 0;     // output bytes
  double flops = 0;             // lower bound; 0 when unknown
  bool inputs_are_cold = true;  // caches were evicted before the call
};

// Best rates ever seen on this device, by the judge's own probes.
struct DevicePeaks {
  double bytes_per_second = 0;
  double flops_per_second = 0;  // of the fastest unit that the task's precision allows
  double cache_bytes = 0;       // last-level cache: may absorb writes, and reads that are not cold
};

struct Roofline {
  double memory_seconds = 0;
  double compute_seconds = 0;
  double floor_seconds = 0;  // the larger of both; they may overlap completely
  bool memory_bound = true;
};

// Fails for negative or non-finite work and for peaks that are not positive (flops_per_second may
// be 0 when flops is 0).
Result<Roofline> ComputeRoofline(const TaskWork& work, const DevicePeaks& peaks);

struct Achieved {
  double bytes_per_second = 0;  // (read + written) / time
  double flops_per_second = 0;
  double bandwidth_fraction = 0;  // of the peak; above 1 is possible where caches serve part of it
  double flops_fraction = 0;
  double floor_fraction = 0;  // floor / time: 1 is the roofline
};

// `seconds` must be positive and finite.
Result<Achieved> ComputeAchieved(const TaskWork& work, const DevicePeaks& peaks, double seconds);

// Whether `seconds` is impossible. `margin` (0.1) allows for peaks measured a little too low.
bool IsBelowFloor(double seconds, const Roofline& roofline, double margin = 0.1);

}  // namespace davinci::stats
