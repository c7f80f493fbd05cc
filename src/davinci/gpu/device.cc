#include "davinci/gpu/device.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "davinci/gpu/dynamic_library.h"

namespace davinci::gpu {
namespace {

// The part of NVML's C interface used here. All of it is stable since driver 470 (the versioned
// names pin the layouts).
using NvmlReturn = int;
using NvmlDevice = void*;
constexpr NvmlReturn kNvmlSuccess = 0;
constexpr NvmlReturn kNvmlInsufficientSize = 7;
constexpr int kNvmlClockSm = 1;
constexpr int kNvmlClockMemory = 2;
constexpr int kNvmlTemperatureGpu = 0;

struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlUtilization {
  unsigned int gpu, memory;
};
struct NvmlProcessInfo {
  unsigned int pid;
  unsigned long long used_gpu_memory;
  unsigned int gpu_instance_id, compute_instance_id;
};
static_assert(sizeof(NvmlProcessInfo) == 24);

struct Nvml {
  NvmlReturn (*Init)();
  NvmlReturn (*Shutdown)();
  const char* (*ErrorString)(NvmlReturn);
  NvmlReturn (*SystemGetDriverVersion)(char*, unsigned int);
  NvmlReturn (*SystemGetCudaDriverVersion)(int*);
  NvmlReturn (*DeviceGetCount)(unsigned int*);
  NvmlReturn (*DeviceGetHandleByIndex)(unsigned int, NvmlDevice*);
  NvmlReturn (*DeviceGetName)(NvmlDevice, char*, unsigned int);
  NvmlReturn (*DeviceGetUuid)(NvmlDevice, char*, unsigned int);
  NvmlReturn (*DeviceGetMemoryInfo)(NvmlDevice, NvmlMemory*);
  // Optional: nullptr when the driver is too old.
  NvmlReturn (*DeviceGetCudaComputeCapability)(NvmlDevice, int*, int*);
  NvmlReturn (*DeviceGetClockInfo)(NvmlDevice, int, unsigned int*);
  NvmlReturn (*DeviceGetMaxClockInfo)(NvmlDevice, int, unsigned int*);
  NvmlReturn (*DeviceGetClocksThrottleReasons)(NvmlDevice, unsigned long long*);
  NvmlReturn (*DeviceGetTemperature)(NvmlDevice, int, unsigned int*);
  NvmlReturn (*DeviceGetPowerUsage)(NvmlDevice, unsigned int*);
  NvmlReturn (*DeviceGetPowerLimit)(NvmlDevice, unsigned int*);
  NvmlReturn (*DeviceGetUtilization)(NvmlDevice, NvmlUtilization*);
  NvmlReturn (*DeviceGetComputeProcesses)(NvmlDevice, unsigned int*, NvmlProcessInfo*);
};

template <typename Function>
bool Bind(const DynamicLibrary& library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(library.FindSymbol(name));
  return function != nullptr;
}

}  // namespace

struct DeviceMonitor::Impl {
  DynamicLibrary library;
  Nvml nvml{};
  bool initialised = false;
  std::string absence_reason;
  std::vector<DeviceInfo> devices;
  std::vector<NvmlDevice> handles;

  // Returns the reason for having no device, empty on success.
  std::string Open(const std::string& file) {
    const std::vector<std::string> names =
        file.empty() ? std::vector<std::string>{"libnvidia-ml.so.1", "libnvidia-ml.so"}
                     : std::vector<std::string>{file};
    const std::vector<std::string> directories =
        file.empty() ? std::vector<std::string>{"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"}
                     : std::vector<std::string>{};
    auto opened = DynamicLibrary::Open(names, directories);
    if (!opened.ok()) return opened.status().message();
    library = std::move(opened).value();
    const bool complete =
        Bind(library, nvml.Init, "nvmlInit_v2") && Bind(library, nvml.Shutdown, "nvmlShutdown") &&
        Bind(library, nvml.ErrorString, "nvmlErrorString") &&
        Bind(library, nvml.SystemGetDriverVersion, "nvmlSystemGetDriverVersion") &&
        Bind(library, nvml.SystemGetCudaDriverVersion, "nvmlSystemGetCudaDriverVersion_v2") &&
        Bind(library, nvml.DeviceGetCount, "nvmlDeviceGetCount_v2") &&
        Bind(library, nvml.DeviceGetHandleByIndex, "nvmlDeviceGetHandleByIndex_v2") &&
        Bind(library, nvml.DeviceGetName, "nvmlDeviceGetName") &&
        Bind(library, nvml.DeviceGetUuid, "nvmlDeviceGetUUID") &&
        Bind(library, nvml.DeviceGetMemoryInfo, "nvmlDeviceGetMemoryInfo");
    if (!complete) return library.path() + " lacks a function every supported driver has";
    Bind(library, nvml.DeviceGetCudaComputeCapability, "nvmlDeviceGetCudaComputeCapability");
    Bind(library, nvml.DeviceGetClockInfo, "nvmlDeviceGetClockInfo");
    Bind(library, nvml.DeviceGetMaxClockInfo, "nvmlDeviceGetMaxClockInfo");
    // Renamed in driver 535; the older name is still exported by all drivers seen, but one of the
    // two is enough.
    if (!Bind(library, nvml.DeviceGetClocksThrottleReasons,
              "nvmlDeviceGetCurrentClocksEventReasons")) {
      Bind(library, nvml.DeviceGetClocksThrottleReasons,
           "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    Bind(library, nvml.DeviceGetTemperature, "nvmlDeviceGetTemperature");
    Bind(library, nvml.DeviceGetPowerUsage, "nvmlDeviceGetPowerUsage");
    Bind(library, nvml.DeviceGetPowerLimit, "nvmlDeviceGetEnforcedPowerLimit");
    Bind(library, nvml.DeviceGetUtilization, "nvmlDeviceGetUtilizationRates");
    Bind(library, nvml.DeviceGetComputeProcesses, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (const NvmlReturn code = nvml.Init(); code != kNvmlSuccess) {
      return fmt::format("NVML: {}", nvml.ErrorString(code));
    }
    initialised = true;
    return ListDevices();
  }

  std::string ListDevices() {
    std::array<char, 96> text{};
    std::string driver_version;
    if (nvml.SystemGetDriverVersion(text.data(), text.size()) == kNvmlSuccess) {
      driver_version = text.data();
    }
    int cuda_version = 0;
    nvml.SystemGetCudaDriverVersion(&cuda_version);
    unsigned int count = 0;
    if (const NvmlReturn code = nvml.DeviceGetCount(&count); code != kNvmlSuccess) {
      return fmt::format("NVML: {}", nvml.ErrorString(code));
    }
    for (unsigned int i = 0; i < count; ++i) {
      NvmlDevice handle = nullptr;
      // A device of another user's MIG slice, or one fallen off the bus: leave it out, keep the
      // rest.
      if (nvml.DeviceGetHandleByIndex(i, &handle) != kNvmlSuccess) continue;
      DeviceInfo info;
      info.index = static_cast<int>(i);
      info.driver_version = driver_version;
      info.cuda_driver_version = cuda_version;
      if (nvml.DeviceGetName(handle, text.data(), text.size()) == kNvmlSuccess) {
        info.name = text.data();
      }
      if (nvml.DeviceGetUuid(handle, text.data(), text.size()) == kNvmlSuccess) {
        info.uuid = text.data();
      }
      NvmlMemory memory{};
      if (nvml.DeviceGetMemoryInfo(handle, &memory) == kNvmlSuccess) {
        info.memory_total_bytes = memory.total;
      }
      if (nvml.DeviceGetCudaComputeCapability != nullptr) {
        nvml.DeviceGetCudaComputeCapability(handle, &info.compute_major, &info.compute_minor);
      }
      devices.push_back(std::move(info));
      handles.push_back(handle);
    }
    return devices.empty() ? "the driver reports no device" : "";
  }

  ~Impl() {
    if (initialised) nvml.Shutdown();
  }
};

ThrottleReasons DecodeThrottleReasons(uint64_t mask) {
  ThrottleReasons reasons;
  reasons.mask = mask;
  reasons.idle = (mask & 0x1) != 0;
  reasons.application_clocks = (mask & 0x2) != 0;
  reasons.software_power_cap = (mask & 0x4) != 0;
  reasons.hardware_slowdown = (mask & 0x8) != 0;
  reasons.sync_boost = (mask & 0x10) != 0;
  reasons.software_thermal = (mask & 0x20) != 0;
  reasons.hardware_thermal = (mask & 0x40) != 0;
  reasons.hardware_power_brake = (mask & 0x80) != 0;
  reasons.display_clocks = (mask & 0x100) != 0;
  return reasons;
}

std::string ThrottleReasons::ToString() const {
  std::string text;
  const auto add = [&text](bool set, const char* name) {
    if (!set) return;
    if (!text.empty()) text += ',';
    text += name;
  };
  add(idle, "idle");
  add(application_clocks, "application_clocks");
  add(software_power_cap, "software_power_cap");
  add(hardware_slowdown, "hardware_slowdown");
  add(sync_boost, "sync_boost");
  add(software_thermal, "software_thermal");
  add(hardware_thermal, "hardware_thermal");
  add(hardware_power_brake, "hardware_power_brake");
  add(display_clocks, "display_clocks");
  return text;
}

DeviceMonitor::DeviceMonitor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeviceMonitor::~DeviceMonitor() = default;

std::unique_ptr<DeviceMonitor> DeviceMonitor::Create(const std::string& library) {
  auto impl = std::make_unique<Impl>();
  impl->absence_reason = impl->Open(library);
  return std::unique_ptr<DeviceMonitor>(new DeviceMonitor(std::move(impl)));
}

const std::vector<DeviceInfo>& DeviceMonitor::devices() const { return impl_->devices; }
const std::string& DeviceMonitor::absence_reason() const { return impl_->absence_reason; }

Result<DeviceState> DeviceMonitor::Read(int index) const {
  const Nvml& nvml = impl_->nvml;
  NvmlDevice handle = nullptr;
  for (size_t i = 0; i < impl_->devices.size(); ++i) {
    if (impl_->devices[i].index == index) handle = impl_->handles[i];
  }
  if (handle == nullptr) {
    return NotFound(fmt::format("GPU {}: not among the {} devices the driver reports", index,
                                impl_->devices.size()));
  }
  DeviceState state;
  NvmlMemory memory{};
  if (const NvmlReturn code = nvml.DeviceGetMemoryInfo(handle, &memory); code != kNvmlSuccess) {
    return Unavailable(fmt::format("GPU {}: {}", index, nvml.ErrorString(code)));
  }
  state.memory_used_bytes = memory.used;
  state.memory_free_bytes = memory.free;
  const auto note = [&state](bool supported, const char* field) {
    if (!supported) state.unsupported.emplace_back(field);
  };
  const auto read = [&](auto function, auto&&... arguments) {
    return function != nullptr && function(handle, arguments...) == kNvmlSuccess;
  };
  note(read(nvml.DeviceGetClockInfo, kNvmlClockSm, &state.sm_clock_mhz), "sm_clock_mhz");
  note(read(nvml.DeviceGetClockInfo, kNvmlClockMemory, &state.memory_clock_mhz),
       "memory_clock_mhz");
  note(read(nvml.DeviceGetMaxClockInfo, kNvmlClockSm, &state.max_sm_clock_mhz), "max_sm_clock_mhz");
  note(read(nvml.DeviceGetMaxClockInfo, kNvmlClockMemory, &state.max_memory_clock_mhz),
       "max_memory_clock_mhz");
  unsigned long long reasons = 0;
  note(read(nvml.DeviceGetClocksThrottleReasons, &reasons), "throttle");
  state.throttle = DecodeThrottleReasons(reasons);
  note(read(nvml.DeviceGetTemperature, kNvmlTemperatureGpu, &state.temperature_celsius),
       "temperature_celsius");
  unsigned int milliwatts = 0;
  note(read(nvml.DeviceGetPowerUsage, &milliwatts), "power_watts");
  state.power_watts = milliwatts / 1000.0;
  milliwatts = 0;
  note(read(nvml.DeviceGetPowerLimit, &milliwatts), "power_limit_watts");
  state.power_limit_watts = milliwatts / 1000.0;
  NvmlUtilization utilization{};
  note(read(nvml.DeviceGetUtilization, &utilization), "utilization_percent");
  state.utilization_percent = utilization.gpu;
  // A process may start between asking for the count and the list: leave room and ask once more if
  // that was not enough.
  std::vector<NvmlProcessInfo> processes(64);
  bool listed = false;
  for (int attempt = 0; attempt < 3 && !listed && nvml.DeviceGetComputeProcesses != nullptr;
       ++attempt) {
    auto count = static_cast<unsigned int>(processes.size());
    const NvmlReturn code = nvml.DeviceGetComputeProcesses(handle, &count, processes.data());
    if (code == kNvmlInsufficientSize) {
      processes.resize(count + 64);
      continue;
    }
    if (code != kNvmlSuccess) break;
    processes.resize(count);
    listed = true;
  }
  note(listed, "processes");
  if (listed) {
    constexpr unsigned long long kNotAvailable = ~0ULL;
    for (const NvmlProcessInfo& process : processes) {
      state.processes.push_back(
          {process.pid, process.used_gpu_memory == kNotAvailable ? 0 : process.used_gpu_memory});
    }
  }
  return state;
}

}  // namespace davinci::gpu
