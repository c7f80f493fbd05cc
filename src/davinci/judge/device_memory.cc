#include "davinci/judge/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

namespace davinci::judge {
namespace {

constexpr auto kSweepInterval = std::chrono::milliseconds(5);

}  // namespace

int PartsFor(int64_t footprint, int64_t total, MemoryRoom room) {
  if (total > 0 && room == MemoryRoom::kAll) return kMemoryParts;
  if (room == MemoryRoom::kHalfMore) footprint += footprint / 2;
  if (total <= 0 || footprint < total / 64) return 0;
  const int64_t part = total / 16 * kSharedSixteenths / kMemoryParts;
  return static_cast<int>(std::clamp<int64_t>((footprint + part - 1) / part, 1, kMemoryParts));
}

Result<std::vector<gpu::DeviceLease>> AcquireMemory(gpu::DeviceLeases* leases,
                                                    const std::string& device, int parts,
                                                    const std::string& purpose, bool wait) {
  std::vector<gpu::DeviceLease> held;
  parts = std::min(parts, kMemoryParts);
  if (parts <= 0) return held;
  gpu::LeaseRequest request;
  request.mode = gpu::LeaseMode::kExclusive;
  request.purpose = purpose;
  if (!wait) request.deadline = std::chrono::steady_clock::now();
  // One at a time gathers parts, whichever become free; so nobody who waits sits on what another
  // needs.
  DAVINCI_ASSIGN_OR_RETURN(const gpu::DeviceLease turn,
                           leases->Acquire(device + "-memory-turn", request));
  std::vector<int> wanted(kMemoryParts);
  std::iota(wanted.begin(), wanted.end(), 0);
  while (true) {
    for (size_t i = 0; i < wanted.size() && std::ssize(held) < parts;) {
      request.deadline = std::chrono::steady_clock::now();
      auto part = leases->Acquire(fmt::format("{}-memory-{}", device, wanted[i]), request);
      if (part.ok()) {
        held.push_back(std::move(*part));
        wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (part.status().code() == StatusCode::kDeadlineExceeded) {
        ++i;
      } else {
        return part.status();
      }
    }
    if (std::ssize(held) >= parts) return held;
    if (!wait) return DeadlineExceeded(fmt::format("{}: memory is taken", device));
    std::this_thread::sleep_for(kSweepInterval);
  }
}

Result<gpu::DeviceLease> JoinCrowd(gpu::DeviceLeases* leases, const std::string& device, bool alone,
                                   const std::string& purpose) {
  gpu::LeaseRequest request;
  request.mode = alone ? gpu::LeaseMode::kExclusive : gpu::LeaseMode::kShared;
  request.purpose = purpose;
  return leases->Acquire(device + "-crowd", request);
}

}  // namespace davinci::judge
