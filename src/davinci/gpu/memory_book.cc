#include "davinci/gpu/memory_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace davinci::gpu {
namespace {

constexpr auto kSweepInterval = std::chrono::milliseconds(5);

LeaseRequest Exclusive(const std::string& purpose) {
  LeaseRequest request;
  request.mode = LeaseMode::kExclusive;
  request.purpose = purpose;
  return request;
}

// What can be had without waiting, or nothing.
Result<DeviceLease> AtOnce(DeviceLeases* leases, const std::string& name,
                           const std::string& purpose) {
  LeaseRequest request = Exclusive(purpose);
  request.deadline = std::chrono::steady_clock::now();
  auto lease = leases->Acquire(name, request);
  if (!lease.ok() && lease.status().code() == StatusCode::kDeadlineExceeded) return DeviceLease();
  return lease;
}

Result<int> CountResident(DeviceLeases* leases, const std::string& device) {
  int count = 0;
  for (int part = 0; part < kMemoryParts; ++part) {
    DAVINCI_ASSIGN_OR_RETURN(
        const DeviceLease free,
        AtOnce(leases, fmt::format("{}-resident-{}", device, part), "counting residents"));
    if (!free.held()) ++count;
  }
  return count;
}

struct Parts {
  std::vector<DeviceLease> leases;
  std::vector<int> numbers;
};

Result<Parts> Gather(DeviceLeases* leases, const std::string& device, int parts,
                     const std::string& purpose, bool wait) {
  Parts held;
  parts = std::min(parts, kMemoryParts);
  if (parts <= 0) return held;
  // One waiter at a time gathers parts, as they become free: no two waiters hold what the other
  // needs.
  LeaseRequest request = Exclusive(purpose);
  if (!wait) request.deadline = std::chrono::steady_clock::now();
  DAVINCI_ASSIGN_OR_RETURN(const DeviceLease turn,
                           leases->Acquire(device + "-memory-turn", request));
  std::vector<bool> have(kMemoryParts);
  while (true) {
    for (int part = 0; part < kMemoryParts && std::ssize(held.leases) < parts; ++part) {
      if (have[static_cast<size_t>(part)]) continue;
      DAVINCI_ASSIGN_OR_RETURN(DeviceLease lease,
                               AtOnce(leases, fmt::format("{}-memory-{}", device, part), purpose));
      if (!lease.held()) continue;
      held.leases.push_back(std::move(lease));
      held.numbers.push_back(part);
      have[static_cast<size_t>(part)] = true;
    }
    if (std::ssize(held.leases) >= parts) return held;
    DAVINCI_ASSIGN_OR_RETURN(const int resident, CountResident(leases, device));
    parts = std::min(parts, kMemoryParts - resident);
    if (std::ssize(held.leases) >= parts) return held;
    if (!wait) return DeadlineExceeded(fmt::format("{}: memory is taken", device));
    std::this_thread::sleep_for(kSweepInterval);
  }
}

}  // namespace

int MemoryPartsFor(int64_t bytes, int64_t total) {
  if (total <= 0 || bytes < total / 64) return 0;
  const int64_t part = total / 16 * kSharedSixteenths / kMemoryParts;
  return static_cast<int>(std::clamp<int64_t>((bytes + part - 1) / part, 1, kMemoryParts));
}

Result<std::vector<DeviceLease>> AcquireMemory(DeviceLeases* leases, const std::string& device,
                                               int parts, const std::string& purpose, bool wait) {
  DAVINCI_ASSIGN_OR_RETURN(Parts held, Gather(leases, device, parts, purpose, wait));
  return std::move(held.leases);
}

Result<std::vector<DeviceLease>> AcquireResidentMemory(DeviceLeases* leases,
                                                       const std::string& device, int parts,
                                                       const std::string& purpose) {
  DAVINCI_ASSIGN_OR_RETURN(Parts held, Gather(leases, device, parts, purpose, true));
  if (std::ssize(held.leases) < std::min(parts, kMemoryParts))
    return ResourceExhausted(
        fmt::format("{}: {} of {} parts of its memory are booked by other models; {} are needed",
                    device, kMemoryParts - std::ssize(held.leases), kMemoryParts, parts));
  for (const int part : held.numbers) {
    DAVINCI_ASSIGN_OR_RETURN(
        DeviceLease mark,
        leases->Acquire(fmt::format("{}-resident-{}", device, part), Exclusive(purpose)));
    held.leases.push_back(std::move(mark));
  }
  return std::move(held.leases);
}

}  // namespace davinci::gpu
