#include "davinci/judge/machine/machine_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace davinci::judge {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string LineOf(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<double> NumberOf(const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// The value of "key : value" in /proc/cpuinfo, of the first core.
std::string CpuInfo(const fs::path& root, const std::string& key) {
  std::ifstream file(root / "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

json CpuState(const fs::path& root) {
  json state = json::object();
  if (const auto load = NumberOf(root / "proc/loadavg")) state["load_1m"] = *load;
  double mhz = 0;
  std::optional<double> throttled;
  for (unsigned core = 0; core < std::max(1u, std::thread::hardware_concurrency()); ++core) {
    const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}", core);
    if (const auto khz = NumberOf(folder / "cpufreq/scaling_cur_freq"))
      mhz = std::max(mhz, 1e-3 * *khz);
    if (const auto count = NumberOf(folder / "thermal_throttle/core_throttle_count"))
      throttled = throttled.value_or(0) + *count;
  }
  if (mhz == 0) mhz = std::strtod(CpuInfo(root, "cpu MHz").c_str(), nullptr);
  if (mhz > 0) state["mhz"] = mhz;
  if (throttled) state["throttled"] = *throttled;
  return state;
}

const gpu::DeviceInfo* WithUuid(const gpu::DeviceMonitor& monitor, std::string_view uuid) {
  for (const gpu::DeviceInfo& device : monitor.devices())
    if (device.uuid == uuid) return &device;
  return nullptr;
}

}  // namespace

json MachineIdentity(Target target, const gpu::DeviceMonitor& monitor, std::string_view uuid,
                     const fs::path& root) {
  if (const gpu::DeviceInfo* device = WithUuid(monitor, uuid);
      target == Target::kCuda && device != nullptr)
    return {{"name", device->name},
            {"uuid", device->uuid},
            {"driver", device->driver_version},
            {"cuda", device->cuda_driver_version}};
  return {{"name", CpuInfo(root, "model name")},
          {"cores", std::thread::hardware_concurrency()},
          {"kernel", LineOf(root / "proc/sys/kernel/osrelease")}};
}

json MachineState(Target target, const gpu::DeviceMonitor& monitor, std::string_view uuid,
                  const fs::path& root) {
  const gpu::DeviceInfo* device = WithUuid(monitor, uuid);
  if (target != Target::kCuda || device == nullptr) return CpuState(root);
  const auto state = monitor.Read(device->index);
  if (!state.ok()) return {{"unavailable", state.status().message()}};
  json found = {{"sm_mhz", state->sm_clock_mhz},         {"max_sm_mhz", state->max_sm_clock_mhz},
                {"memory_mhz", state->memory_clock_mhz}, {"celsius", state->temperature_celsius},
                {"watts", state->power_watts},           {"watts_limit", state->power_limit_watts},
                {"throttle", state->throttle.ToString()}};
  if (state->throttle.AffectsTiming()) found["slowed_by"] = state->throttle.ToString();
  return found;
}

}  // namespace davinci::judge
