// The device, shared with other trials outside of timing.
#pragma once

#include <string_view>

#include "davinci/base/status.h"
#include "davinci/gpu/lease.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// Takes a share of the device, or keeps it: while loading, drawing, comparing or checking there.
// Gives way to evaluations that wait to be timed.
Status ShareDevice(Trial& trial);
// Tells the progress callback that another process has the device.
gpu::LeaseRequest DeviceRequest(const Trial& trial, gpu::LeaseMode mode, std::string_view what);

}  // namespace davinci::judge
