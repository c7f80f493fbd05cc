// Who holds how much of a device's memory, between processes: thirteen sixteenths of it are cut
// into kMemoryParts equal parts, each an exclusive lease named "<device>-memory-<k>"; the rest is
// for contexts and for what is too small to count. Parts are taken in order of arrival, any of
// them.
//
// Those who hold parts for as long as they live (a language model's weights) say so by a second
// lease, "<device>-resident-<k>": who asks for the whole device gets all parts but these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/gpu/lease.h"

namespace davinci::gpu {

inline constexpr int kMemoryParts = 32;
inline constexpr int kSharedSixteenths = 13;

// Parts needed for `bytes` of a device with `total` bytes: 0 below a sixty-fourth, at most
// kMemoryParts.
int MemoryPartsFor(int64_t bytes, int64_t total);

// `parts` leases; more than there are is all but the resident ones. Who holds some must not ask for
// more. Waits for them, or with `wait` false is kDeadlineExceeded unless they can be had at once.
Result<std::vector<DeviceLease>> AcquireMemory(DeviceLeases* leases, const std::string& device,
                                               int parts, const std::string& purpose,
                                               bool wait = true);

// The same, and marks the parts as resident. kResourceExhausted: more than the device has besides
// other residents.
Result<std::vector<DeviceLease>> AcquireResidentMemory(DeviceLeases* leases,
                                                       const std::string& device, int parts,
                                                       const std::string& purpose);

}  // namespace davinci::gpu
