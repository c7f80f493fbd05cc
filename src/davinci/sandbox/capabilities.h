// Capabilities: giving up every privilege of root, for good.
#pragma once

#include "davinci/base/status.h"

namespace davinci::sandbox {

// True when the calling process may unshare namespaces without a user namespace (CAP_SYS_ADMIN).
bool HasAdminCapability();

// Empties the bounding, ambient, inheritable, permitted and effective sets of the calling thread,
// and makes uid 0 an ordinary user (SECBIT_NOROOT, locked). Fails only if a capability remains.
Status DropCapabilities();

// no_new_privs: set-user-id programs and file capabilities no longer add anything. Cannot be taken
// back.
Status SetNoNewPrivs();

}  // namespace davinci::sandbox
