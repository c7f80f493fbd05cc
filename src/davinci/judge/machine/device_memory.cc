#include "davinci/judge/machine/device_memory.h"

namespace davinci::judge {

int PartsFor(int64_t footprint, int64_t total, MemoryBudget budget) {
  if (total > 0 && budget == MemoryBudget::kAll) return kMemoryParts;
  if (budget == MemoryBudget::kHalfMore) footprint += footprint / 2;
  return gpu::MemoryPartsFor(footprint, total);
}

Result<gpu::DeviceLease> JoinDeviceUsers(gpu::DeviceLeases* leases, const std::string& device,
                                         bool alone, const std::string& purpose) {
  gpu::LeaseRequest request;
  request.mode = alone ? gpu::LeaseMode::kExclusive : gpu::LeaseMode::kShared;
  request.purpose = purpose;
  return leases->Acquire(device + "-users", request);
}

}  // namespace davinci::judge
