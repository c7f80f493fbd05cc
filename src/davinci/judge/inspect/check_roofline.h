// Whether the time of record is possible on this device.
#pragma once

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// Asks what is known of the task, then holds the time against it. After the verdict on correctness
// and outside the timed calls; it can turn a verdict from ok to invalid_timing.
Result<bool> WeighTask(Trial& trial);

}  // namespace davinci::judge
