// The time of record of a call on cpu.
#pragma once

#include "davinci/judge/roles/call.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// The time of record of a call: GO to DONE on our clock, less the measured cost of the protocol.
// A runner that computes after DONE is timed until its last thread has stopped. Its own
// clock can only make it longer.
double RecordSeconds(const CallCosts& costs, const CallResult& call);

}  // namespace davinci::judge
