#include "davinci/judge/device_memory.h"

namespace davinci::judge {

int PartsFor(int64_t footprint, int64_t total, MemoryRoom room) {
  if (total > 0 && room == MemoryRoom::kAll) return kMemoryParts;
  if (room == MemoryRoom::kHalfMore) footprint += footprint / 2;
  return gpu::MemoryPartsFor(footprint, total);
}

Result<gpu::DeviceLease> JoinCrowd(gpu::DeviceLeases* leases, const std::string& device, bool alone,
                                   const std::string& purpose) {
  gpu::LeaseRequest request;
  request.mode = alone ? gpu::LeaseMode::kExclusive : gpu::LeaseMode::kShared;
  request.purpose = purpose;
  return leases->Acquire(device + "-crowd", request);
}

}  // namespace davinci::judge
