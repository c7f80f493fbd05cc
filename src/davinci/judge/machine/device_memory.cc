#include "davinci/judge/machine/device_memory.h"

#include <algorithm>
#include <cstddef>

namespace davinci::judge {
namespace {

// Tasks that expectations rest on: so many at least, and no more than the last ones.
constexpr size_t kFewestDescribed = 4;
constexpr size_t kMostDescribed = 32;

}  // namespace

void ExpectedParts::Described(int parts) {
  const MutexLock lock(mutex_);
  last_.push_back(parts);
  if (last_.size() > kMostDescribed) last_.pop_front();
}

int ExpectedParts::Expected() const {
  const MutexLock lock(mutex_);
  if (last_.size() < kFewestDescribed) return kUnknownParts;
  std::vector<int> parts(last_.begin(), last_.end());
  const auto most = parts.begin() + static_cast<std::ptrdiff_t>((parts.size() * 9 - 1) / 10);
  std::ranges::nth_element(parts, most);
  return std::clamp((*most + 1) / 2, 1, kUnknownParts);
}

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
