// Timing: the device taken and kept awake, pairs measured, clocks checked, a number concluded.
#pragma once

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// The device is exclusive meanwhile, and given back as soon as nothing is timed any more.
Result<bool> MeasureTime(Trial& trial);

}  // namespace davinci::judge
