// Windows before they are measured: buffers that are filled between calls, inputs drawn ahead, how
// many calls each kind holds.
#pragma once

#include <cstdint>

#include "davinci/base/status.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// With the device shared: everything but what is timed.
Status PrepareWindows(Trial& trial);
// Does a call leave something in buffers that the next begins with?
bool KeepsState(const Session& session);
// Sets the kinds of trial.windows.
void PlanWindows(Trial& trial);
// The seed of a timed call's inputs: of inputs that were drawn ahead where `plan` has any left,
// else a new one of `secret`.
uint64_t NextSeed(WindowPlan* plan, SecretStream* secret);

}  // namespace davinci::judge
