// Which GPUs of the machine this process may use, by uuid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/gpu/device.h"

namespace davinci::gpu {

// The devices of `all` that CUDA_VISIBLE_DEVICES leaves, in its order (indices or the beginnings of
// uuids, with commas; what follows an unknown one is not visible). `visible` null: all of them.
std::vector<DeviceInfo> VisibleDevices(const std::vector<DeviceInfo>& all, const char* visible);
// Of this machine and this process's environment.
std::vector<DeviceInfo> VisibleDevices(const DeviceMonitor& monitor);

// No device, though some are visible: what judges for cuda compiles and interprets.
inline constexpr std::string_view kNoDevice = "none";

// "all", "none", or positions among `visible` and beginnings of uuids, with commas; each device
// once. kInvalidArgument names what fits none.
Result<std::vector<std::string>> ChooseDevices(const std::vector<DeviceInfo>& visible,
                                               std::string_view text);

// Those of `devices` with these uuids, in the order of the uuids.
std::vector<DeviceInfo> DevicesOf(const std::vector<DeviceInfo>& devices,
                                  const std::vector<std::string>& uuids);

}  // namespace davinci::gpu
