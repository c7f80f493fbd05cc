// Leases of the device's memory for one task.
#pragma once

#include "davinci/base/status.h"
#include "davinci/judge/roles/oracle.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// Before the task is described, and with what is known about it afterwards.
Status ReserveDeviceMemory(Trial& trial);
Status FitDeviceMemory(Trial& trial, const VariantFacts& facts);

}  // namespace davinci::judge
