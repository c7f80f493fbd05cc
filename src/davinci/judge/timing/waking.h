// What waking and stopping a process costs for each of its threads, measured where it is judged: a
// constant would be right on one machine only.
#pragma once

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// What it costs on this machine, at this moment, to wake and to stop as many more threads as the
// candidate has than the baseline: measured on the baseline, which is given as many that sleep.
Status MeasureWaking(Trial& trial);

}  // namespace davinci::judge
