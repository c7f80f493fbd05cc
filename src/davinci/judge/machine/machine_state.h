// Which machine numbers are of, and the state it was in: clocks, heat, load. A record for readers
// of a time; no verdict follows from it, since candidate and baseline take turns on one machine.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "davinci/data/evaluation.h"
#include "davinci/gpu/device.h"

namespace davinci::judge {

// {"name", "cores", "kernel"}, and on cuda {"name", "uuid", "driver", "cuda"} of the device with
// that uuid. `root`: the file system's, for tests.
nlohmann::json MachineIdentity(Target target, const gpu::DeviceMonitor& monitor,
                               std::string_view uuid, const std::filesystem::path& root = "/");

// cpu: {"load_1m", "mhz", "throttled"}: how many threads of the machine want to run, the fastest
// core's clock, how often a core has been throttled for heat since the machine started; what the
// kernel does not tell is left out. cuda: {"sm_mhz", "max_sm_mhz", "memory_mhz", "celsius",
// "watts", "watts_limit", "throttle"}, the last as ThrottleReasons::ToString(), and "slowed_by",
// the same, where that makes the device slower than it could be.
nlohmann::json MachineState(Target target, const gpu::DeviceMonitor& monitor, std::string_view uuid,
                            const std::filesystem::path& root = "/");

}  // namespace davinci::judge
