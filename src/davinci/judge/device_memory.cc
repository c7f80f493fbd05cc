#include "davinci/judge/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace davinci::judge {

int64_t EstimateFootprint(int64_t input_bytes, int64_t weight_bytes, int64_t output_bytes) {
  return 14 * input_bytes + 8 * weight_bytes + 16 * output_bytes;
}

int PartsFor(int64_t footprint, int64_t total) {
  if (total <= 0 || footprint < total / 64) return 0;
  const int64_t part = total / 8 * 7 / kMemoryParts;
  return static_cast<int>(std::clamp<int64_t>((footprint + part - 1) / part, 1, kMemoryParts));
}

Result<std::vector<gpu::DeviceLease>> AcquireMemory(gpu::DeviceLeases* leases,
                                                    const std::string& device, int parts,
                                                    const std::string& purpose) {
  // Those who need one part spread over all of them; the order stays ascending for everybody.
  static std::atomic<unsigned> next{0};
  const int first =
      parts >= kMemoryParts ? 0 : static_cast<int>(next++ % (kMemoryParts - parts + 1));
  std::vector<gpu::DeviceLease> held;
  for (int k = first; k < first + parts; ++k) {
    gpu::LeaseRequest request;
    request.mode = gpu::LeaseMode::kExclusive;
    request.purpose = purpose;
    DAVINCI_ASSIGN_OR_RETURN(gpu::DeviceLease lease,
                             leases->Acquire(fmt::format("{}-memory-{}", device, k), request));
    held.push_back(std::move(lease));
  }
  return held;
}

Result<gpu::DeviceLease> JoinCrowd(gpu::DeviceLeases* leases, const std::string& device, bool alone,
                                   const std::string& purpose) {
  gpu::LeaseRequest request;
  request.mode = alone ? gpu::LeaseMode::kExclusive : gpu::LeaseMode::kShared;
  request.purpose = purpose;
  return leases->Acquire(device + "-crowd", request);
}

}  // namespace davinci::judge
