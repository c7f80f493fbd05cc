// The model's turn at a device that kernels are timed on: the shared lease of gpu/lease.h, left
// whenever a timing is due, and every max_hold_ms in any case (model/engine.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/gpu/device.h"
#include "davinci/model/engine.h"

namespace davinci::embedded {

// `device`: "cpu" or "cuda:N". A lease that cannot be had (a folder
// that vanished) is reported once on stderr and not waited for: generation goes on without.
Result<std::shared_ptr<model::DeviceTurn>> OpenDeviceTurn(const std::string& device);

// Takes the turn, and leaves it when what is returned is destroyed.
std::shared_ptr<void> HoldTurn(std::shared_ptr<model::DeviceTurn> turn);

// Books `bytes` of the device's memory (gpu/memory_book.h) until what is returned is destroyed, so
// that the judge's estimates know of them; waits for those who have it now. Nothing is booked on
// the CPU, whose memory has no book, nor where NVML cannot tell the device's size.
Result<std::shared_ptr<void>> BookDeviceMemory(const std::string& device, int64_t bytes);

// The judge's name of a device: "cuda:1" is the uuid of the second of `visible`; what is not among
// them keeps its name.
std::string LeaseName(const std::string& device, const std::vector<gpu::DeviceInfo>& visible);

}  // namespace davinci::embedded
