// Device memory shared fairly between evaluations in flight: whoever needs much of it waits, so
// that nobody runs out of memory because of a neighbour and no candidate is blamed for it.
//
// The device's memory is cut into kMemoryParts equal parts, each an exclusive lease that works
// across processes. An evaluation takes as many as its estimated footprint needs, in ascending
// order (no deadlock); a small one takes none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/gpu/lease.h"

namespace davinci::judge {

inline constexpr int kMemoryParts = 4;

// Peak bytes an evaluation holds on the device, all three roles together, from the bytes of one
// call's inputs, weights and outputs: arenas and copies of the inputs, their float64 twins, truth,
// the honest variants, both runners' outputs.
int64_t EstimateFootprint(int64_t input_bytes, int64_t weight_bytes, int64_t output_bytes);

// Parts needed for `footprint` of a device with `total` bytes: 0 below a sixteenth, at most
// kMemoryParts.
int PartsFor(int64_t footprint, int64_t total);

// Waits for `parts` leases named "<device>-memory-<k>".
Result<std::vector<gpu::DeviceLease>> AcquireMemory(gpu::DeviceLeases* leases,
                                                    const std::string& device, int parts,
                                                    const std::string& purpose);

}  // namespace davinci::judge
