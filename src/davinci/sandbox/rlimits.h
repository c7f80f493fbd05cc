// rlimits: the per-process limits every Unix has.
#pragma once

#include "davinci/base/status.h"
#include "davinci/sandbox/limits.h"

namespace davinci::sandbox {

// Sets soft and hard limits of the calling process; a limit that is already lower stays. Core dumps
// are switched off. `processes_per_user_namespace` says that RLIMIT_NPROC counts this sandbox only
// (a user namespace was entered); if not, what the user already runs elsewhere is added to the
// limit.
Status ApplyRlimits(const Limits& limits, bool processes_per_user_namespace);

}  // namespace davinci::sandbox
