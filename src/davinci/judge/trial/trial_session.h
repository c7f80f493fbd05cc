// The session of a trial: claimed or made, and given back.
#pragma once

#include <string>

#include "davinci/base/status.h"
#include "davinci/judge/roles/session_shelves.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// What makes two sessions interchangeable, and what makes their processes so; the second is empty
// where they serve one task only.
std::string SessionKey(const Trial& trial);
std::string HostKey(const Trial& trial);
// The oracle's process alone. `symbols`: it will be asked for a graph with symbols.
Status StartOracle(Trial& trial, bool symbols = false);
// Oracle and baseline, started or taken over from a session of another key.
Status StartSession(Trial& trial);
// Nothing where the claim was not granted.
Status TakeSession(Trial& trial, SessionClaim claim);
// Gives session and candidate back to the pool. `well`: the trial ended with an Evaluation.
void ReturnSession(Trial& trial, bool well);

}  // namespace davinci::judge
