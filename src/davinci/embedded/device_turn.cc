#include "davinci/embedded/device_turn.h"

#include <fmt/format.h>

#include <cstdio>

#include "davinci/gpu/lease.h"

namespace davinci::embedded {
namespace {

class LeaseTurn final : public model::DeviceTurn {
 public:
  LeaseTurn(std::unique_ptr<gpu::DeviceLeases> leases, std::string device)
      : leases_(std::move(leases)), device_(std::move(device)) {}

  void Take() override {
    gpu::LeaseRequest request;
    request.mode = gpu::LeaseMode::kShared;
    request.purpose = "generating text";
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

}  // namespace

Result<std::shared_ptr<model::DeviceTurn>> OpenDeviceTurn(const std::string& device) {
  // The judge's name of the device: "cuda:0" is "cuda0".
  std::string key = device;
  std::erase(key, ':');
  DAVINCI_ASSIGN_OR_RETURN(const auto folder, gpu::MachineLeaseDir());
  DAVINCI_ASSIGN_OR_RETURN(auto leases, gpu::DeviceLeases::Open(folder));
  return std::shared_ptr<model::DeviceTurn>(std::make_shared<LeaseTurn>(std::move(leases), key));
}

}  // namespace davinci::embedded
