// The model's turn at a device that kernels are timed on: the shared lease of gpu/lease.h, left
// whenever a timing is due, and every max_hold_ms in any case (model/engine.h).
#pragma once

#include <memory>
#include <string>

#include "davinci/base/status.h"
#include "davinci/model/engine.h"

namespace davinci::embedded {

// `device`: "cpu" or "cuda:N". A lease that cannot be had (a folder
// that vanished) is reported once on stderr and not waited for: generation goes on without.
Result<std::shared_ptr<model::DeviceTurn>> OpenDeviceTurn(const std::string& device);

}  // namespace davinci::embedded
