// The session of a trial: claimed or made, and given back.
#pragma once

#include <string>

#include "davinci/base/status.h"
#include "davinci/judge/session.h"
#include "davinci/judge/trial.h"

namespace davinci::judge {

std::string SessionKey(const Trial& trial);
std::string HostKey(const Trial& trial);
Status StartOracle(Trial& trial);
Status StartSession(Trial& trial);
Status TakeSession(Trial& trial, SessionClaim claim);
void ReturnSession(Trial& trial, bool well);

}  // namespace davinci::judge
