// The first steps of a trial: its processes, the reference, the candidate.
#pragma once

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// A session, where one is free or may be made, and a process for the candidate.
Result<bool> StartRoles(Trial& trial);
// The candidate imports and compiles meanwhile.
Result<bool> LoadReference(Trial& trial);
// Waits for the candidate's module, for a session where there was none, and binds the candidate.
Result<bool> LoadCandidate(Trial& trial);

}  // namespace davinci::judge
