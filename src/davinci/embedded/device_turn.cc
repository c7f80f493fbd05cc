#include "davinci/embedded/device_turn.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "davinci/gpu/device.h"
#include "davinci/gpu/lease.h"
#include "davinci/gpu/memory_book.h"
#include "davinci/gpu/visible_devices.h"

namespace davinci::embedded {
namespace {

class LeaseTurn final : public model::DeviceTurn {
 public:
  LeaseTurn(std::unique_ptr<gpu::DeviceLeases> leases, std::string device)
      : leases_(std::move(leases)), device_(std::move(device)) {}

  void Take() override {
    gpu::LeaseRequest request;
    request.mode = gpu::LeaseMode::kShared;
    request.purpose = "a language model";
    auto lease = leases_->Acquire(device_, request);
    if (lease.ok()) {
      lease_ = std::move(lease).value();
    } else if (!reported_) {
      reported_ = true;
      fmt::print(stderr, "davinci: the model runs without the lease of {}: {}\n", device_,
                 lease.status().message());
    }
  }
  void Leave() override { lease_.Release(); }
  bool IsWanted() override {
    return leases_->ExclusiveIsDue(device_) || leases_->IsAwaited(device_);
  }

 private:
  const std::unique_ptr<gpu::DeviceLeases> leases_;
  const std::string device_;
  gpu::DeviceLease lease_;
  bool reported_ = false;
};

// Null where `device` is no "cuda:N", or there are not so many.
const gpu::DeviceInfo* DeviceAt(const std::string& device,
                                const std::vector<gpu::DeviceInfo>& visible) {
  if (!device.starts_with("cuda:")) return nullptr;
  const size_t position = std::strtoul(device.c_str() + 5, nullptr, 10);
  return position < visible.size() ? &visible[position] : nullptr;
}

}  // namespace

std::string LeaseName(const std::string& device, const std::vector<gpu::DeviceInfo>& visible) {
  const gpu::DeviceInfo* found = DeviceAt(device, visible);
  return found == nullptr ? device : found->uuid;
}

Result<std::shared_ptr<void>> BookDeviceMemory(const std::string& device, int64_t bytes) {
  const auto visible = gpu::VisibleDevices(*gpu::DeviceMonitor::Create());
  const gpu::DeviceInfo* found = DeviceAt(device, visible);
  if (found == nullptr) return std::shared_ptr<void>();
  const auto total = static_cast<int64_t>(found->memory_total_bytes);
  struct Booking {
    std::unique_ptr<gpu::DeviceLeases> owner;  // outlives its leases
    std::vector<gpu::DeviceLease> parts;
  };
  auto booking = std::make_shared<Booking>();
  DAVINCI_ASSIGN_OR_RETURN(const auto folder, gpu::MachineLeaseDir());
  DAVINCI_ASSIGN_OR_RETURN(booking->owner, gpu::DeviceLeases::Open(folder));
  DAVINCI_ASSIGN_OR_RETURN(
      booking->parts,
      gpu::AcquireResidentMemory(booking->owner.get(), found->uuid,
                                 gpu::MemoryPartsFor(bytes, total), "a language model"));
  return std::shared_ptr<void>(std::move(booking));
}

Result<std::shared_ptr<model::DeviceTurn>> OpenDeviceTurn(const std::string& device) {
  DAVINCI_ASSIGN_OR_RETURN(const auto folder, gpu::MachineLeaseDir());
  DAVINCI_ASSIGN_OR_RETURN(auto leases, gpu::DeviceLeases::Open(folder));
  return std::shared_ptr<model::DeviceTurn>(std::make_shared<LeaseTurn>(
      std::move(leases), LeaseName(device, gpu::VisibleDevices(*gpu::DeviceMonitor::Create()))));
}

std::shared_ptr<void> HoldTurn(std::shared_ptr<model::DeviceTurn> turn) {
  turn->Take();
  return {turn.get(), [turn](void*) { turn->Leave(); }};
}

}  // namespace davinci::embedded
