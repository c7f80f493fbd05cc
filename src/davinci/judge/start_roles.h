// The first steps of a trial: its processes, the reference, the candidate.
#pragma once

#include "davinci/base/status.h"
#include "davinci/judge/trial.h"

namespace davinci::judge {

Result<bool> StartRoles(Trial& trial);
Result<bool> LoadReference(Trial& trial);
Result<bool> LoadCandidate(Trial& trial);

}  // namespace davinci::judge
