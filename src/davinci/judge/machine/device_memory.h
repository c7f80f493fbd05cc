// Device memory shared fairly between evaluations in flight: a large evaluation waits, so
// that none runs out of memory because of a neighbour and no candidate is blamed for it.
//
// The parts of gpu/memory_book.h are booked; the rest of the memory is for contexts (half a
// gigabyte each, three and more for an evaluation) and for small evaluations. An evaluation takes
// as many parts as its estimated footprint needs, any of them, in order of arrival; a small one
// takes none. A task not described yet takes ExpectedParts while it is described.
//
// Estimates are estimates: where the reference ran out of memory, it is asked again with half as
// much room more, which is then remembered of the task; after that, or when a candidate ran out
// that had not asked for more than the device has, the evaluation is repeated alone on the device,
// and only then believed. For that, every evaluation holds a shared lease of the device from
// its first allocation to its verdict; one that must be alone takes that lease exclusively.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/gpu/memory_book.h"

namespace davinci::judge {

using gpu::kMemoryParts;
using gpu::kSharedSixteenths;
inline constexpr int kUnknownParts = 8;

// ExpectedParts says how many parts a task takes that is not described yet: half of what nine in
// ten of the last tasks need at most, because these are mostly of one kind (a benchmark, a
// training's tasks) and describing one takes less than judging it: of 184 tasks of a training the
// oracles held 0.51 of the estimate (median; nine in ten at most 0.65) over their whole life. It is
// kUnknownParts before there are some. Thread-safe.
class ExpectedParts {
 public:
  void Described(int parts);
  int Expected() const;

 private:
  mutable Mutex mutex_;
  std::deque<int> last_ DAVINCI_GUARDED_BY(mutex_);
};

enum class MemoryBudget { kEstimated, kHalfMore, kAll };

// Parts needed for `footprint` (the oracle estimates it, davinci_worker/oracle/description.py) of a
// device with `total` bytes: 0 below a sixty-fourth, at most kMemoryParts.
int PartsFor(int64_t footprint, int64_t total, MemoryBudget budget = MemoryBudget::kEstimated);

using gpu::AcquireMemory;

// Waits for the lease "<device>-users". Taken before any other lease.
Result<gpu::DeviceLease> JoinDeviceUsers(gpu::DeviceLeases* leases, const std::string& device,
                                         bool alone, const std::string& purpose);

}  // namespace davinci::judge
