#include "davinci/gpu/visible_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "davinci/base/number.h"

namespace davinci::gpu {
namespace {

std::vector<std::string_view> CommaSeparated(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

const DeviceInfo* Find(const std::vector<DeviceInfo>& devices, std::string_view name) {
  if (const auto position = WholeNumber<size_t>(name))
    return *position < devices.size() ? &devices[*position] : nullptr;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
    return !name.empty() && device.uuid.starts_with(name);
  });
  return found == devices.end() ? nullptr : &*found;
}

bool Holds(const std::vector<std::string>& uuids, const std::string& uuid) {
  return std::find(uuids.begin(), uuids.end(), uuid) != uuids.end();
}

}  // namespace

std::vector<DeviceInfo> VisibleDevices(const std::vector<DeviceInfo>& all, const char* visible) {
  if (visible == nullptr) return all;
  std::vector<DeviceInfo> devices;
  for (const std::string_view part : CommaSeparated(visible)) {
    // A slice of a GPU has a uuid of its own, which NVML lists elsewhere: it counts as the first
    // GPU.
    const DeviceInfo* device =
        part.starts_with("MIG-") && !all.empty() ? &all.front() : Find(all, part);
    if (device == nullptr) break;
    devices.push_back(*device);
  }
  return devices;
}

std::vector<DeviceInfo> VisibleDevices(const DeviceMonitor& monitor) {
  return VisibleDevices(monitor.devices(), std::getenv("CUDA_VISIBLE_DEVICES"));
}

Result<std::vector<std::string>> ChooseDevices(const std::vector<DeviceInfo>& visible,
                                               std::string_view text) {
  std::vector<std::string> uuids;
  if (text == kNoDevice) return uuids;
  if (text == "all") {
    for (const DeviceInfo& device : visible) uuids.push_back(device.uuid);
    return uuids;
  }
  for (const std::string_view part : CommaSeparated(text)) {
    const DeviceInfo* device = Find(visible, part);
    if (device == nullptr)
      return InvalidArgument(fmt::format(
          "no device \"{}\"; {} visible (davinci doctor lists their uuids); give \"all\", "
          "\"none\", positions from 0, or beginnings of uuids",
          part, visible.size()));
    if (!Holds(uuids, device->uuid)) uuids.push_back(device->uuid);
  }
  return uuids;
}

std::vector<DeviceInfo> DevicesOf(const std::vector<DeviceInfo>& devices,
                                  const std::vector<std::string>& uuids) {
  std::vector<DeviceInfo> found;
  for (const std::string& uuid : uuids)
    for (const DeviceInfo& device : devices)
      if (device.uuid == uuid) found.push_back(device);
  return found;
}

}  // namespace davinci::gpu
