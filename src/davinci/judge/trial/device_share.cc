#include "davinci/judge/trial/device_share.h"

#include <fmt/format.h>

#include <string>

namespace davinci::judge {
Status ShareDevice(Trial& trial) {
  if (trial.device.share.held()) {
    if (!trial.context.leases->ExclusiveIsDue(DeviceKey(trial))) return Status::Ok();
    trial.device.share.Release();
  }
  DAVINCI_ASSIGN_OR_RETURN(
      trial.device.share,
      trial.context.leases->Acquire(DeviceKey(trial),
                                    DeviceRequest(trial, gpu::LeaseMode::kShared, "checking")));
  return Status::Ok();
}

gpu::LeaseRequest DeviceRequest(const Trial& trial, gpu::LeaseMode mode, std::string_view what) {
  gpu::LeaseRequest request;
  request.mode = mode;
  request.purpose = fmt::format("{} {}", what, trial.job.candidate_path);
  if (trial.job.progress)
    request.on_wait = [&trial](const std::string& holder) {
      trial.job.progress(fmt::format("{}: another process has the device{}{}", trial.clock.stage,
                                     holder.empty() ? "" : "; timed last: ", holder));
    };
  return request;
}

}  // namespace davinci::judge
