// How fast a task can be on a device, as two figures. Pure arithmetic on measured rates.
//
//   attainable   time of a perfect kernel: bytes moved at the rates at which this device was seen
//   to
//                read, write and copy as many, operations at its measured peak. People read it, and
//                prompts and stop rules do.
//   impossible   a bound that no honest time is below: only what cannot be avoided counts, at rates
//                nothing on the device exceeds. It turns a verdict; a time above it proves nothing.
#pragma once

#include "davinci/base/status.h"

namespace davinci::stats {

// What the task must move and compute.
struct TaskWork {
  double read_bytes = 0;     // distinct input bytes the result depends on
  double written_bytes = 0;  // output bytes
  double flops = 0;          // 0 when unknown
};

// Rates of the whole device at work, per second. Copying counts what is read and what is written.
struct AttainableRates {
  double read_bytes = 0;
  double write_bytes = 0;
  double copy_bytes = 0;
  double flops = 0;  // may be 0 when the work's are
};

// Best rates ever seen on this device, by the judge's own probes.
struct DevicePeaks {
  double bytes_per_second = 0;
  double flops_per_second = 0;  // of the fastest unit that the task's precision allows
  double cache_bytes = 0;       // last-level cache: may absorb writes
};

struct Roofline {
  double memory_seconds = 0;
  double compute_seconds = 0;
  double seconds = 0;  // the larger of both; they may overlap completely
  bool memory_bound = true;
};

// As many bytes read as written move at the copy rate, the rest at the rate of its own direction.
// Fails for negative or non-finite work and for rates that are not positive.
Result<Roofline> ComputeAttainable(const TaskWork& work, const AttainableRates& rates);

// Fails for negative or non-finite work and for peaks that are not positive (flops_per_second may
// be 0 when flops is 0).
Result<Roofline> ComputeImpossible(const TaskWork& work, const DevicePeaks& peaks);

}  // namespace davinci::stats
