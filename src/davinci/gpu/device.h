// The machine's GPUs as the supervisor sees them: through NVML only, without creating a CUDA
// context.
//
// What it decides: nothing; it reports identity, load, clocks and throttling so that a measurement
// can carry the state it was taken in. What it must never do: call into the CUDA driver (a context
// costs hundreds of megabytes and makes a later fork unusable), or change a setting of the device.
//
// On a machine with no driver every call works and reports no device;
// DeviceMonitor::absence_reason() says why.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::gpu {

struct DeviceInfo {
  int index = 0;     // NVML's index (PCI order); CUDA's default order can differ, so join on uuid
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // "GPU-…", stable across reboots; CUDA_VISIBLE_DEVICES accepts it
  int compute_major = 0;
  int compute_minor = 0;
  uint64_t memory_total_bytes = 0;
  std::string driver_version;   // "580.159.04"
  int cuda_driver_version = 0;  // 13000 = CUDA 13.0, the newest the driver can run
};

// Why the device ran slower than it could, decoded from NVML's bit mask.
struct ThrottleReasons {
  uint64_t mask = 0;  // NVML's raw value, kept for records
  bool idle = false;  // clocks are low because nothing runs; not a fault
  bool application_clocks = false;
  bool software_power_cap = false;
  bool hardware_slowdown = false;
  bool sync_boost = false;
  bool software_thermal = false;
  bool hardware_thermal = false;
  bool hardware_power_brake = false;
  bool display_clocks = false;

  // True when a measurement taken now would be slower than the device allows: power or heat, not
  // idleness or a chosen clock.
  bool AffectsTiming() const {
    return software_power_cap || hardware_slowdown || software_thermal || hardware_thermal ||
           hardware_power_brake || sync_boost;
  }
  // "software_power_cap,hardware_thermal"; empty when none.
  std::string ToString() const;
};
ThrottleReasons DecodeThrottleReasons(uint64_t nvml_mask);

struct ComputeProcess {
  uint32_t pid = 0;  // in the driver's pid namespace; may not match ours inside a container
  uint64_t used_memory_bytes = 0;  // 0 when the driver does not tell
};

// One reading. A field the device does not support keeps its default and its name is listed in
// `unsupported`.
struct DeviceState {
  uint32_t sm_clock_mhz = 0;
  uint32_t memory_clock_mhz = 0;
  uint32_t max_sm_clock_mhz = 0;
  uint32_t max_memory_clock_mhz = 0;
  ThrottleReasons throttle;
  uint32_t temperature_celsius = 0;
  double power_watts = 0;
  double power_limit_watts = 0;
  uint32_t utilization_percent = 0;
  uint64_t memory_used_bytes = 0;
  uint64_t memory_free_bytes = 0;
  std::vector<ComputeProcess> processes;
  std::vector<std::string> unsupported;
};

// Thread-safe: NVML locks internally, and the object is immutable after Create.
class DeviceMonitor {
 public:
  // Never fails for want of a driver: then devices() is empty. `library` names the NVML file; empty
  // means the usual places.
  static std::unique_ptr<DeviceMonitor> Create(const std::string& library = "");
  ~DeviceMonitor();
  DeviceMonitor(const DeviceMonitor&) = delete;
  DeviceMonitor& operator=(const DeviceMonitor&) = delete;

  const std::vector<DeviceInfo>& devices() const;
  // Empty when the driver answered, else why there is no device ("libnvidia-ml.so.1: cannot open
  // …").
  const std::string& absence_reason() const;
  // kNotFound when `index` is not in devices(); kUnavailable when the driver lost the device.
  Result<DeviceState> Read(int index) const;

 private:
  struct Impl;
  explicit DeviceMonitor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace davinci::gpu
