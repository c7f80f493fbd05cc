// Landlock: file, network and signal rules that an unprivileged process puts on itself (Linux 5.13
// and later).
//
// The rules hold for the calling thread and everything it starts afterwards, cannot be taken back,
// and do not touch descriptors that are already open. The kernel's ABI version decides what can be
// enforced:
//   1 files · 2 rename across directories · 3 truncate · 4 TCP · 5 device ioctl · 6 signals and
//   abstract unix sockets to processes outside · 7 audit flags (nothing we need)
#pragma once

#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sandbox/path_rules.h"

namespace davinci::sandbox {

// The kernel's Landlock ABI version; 0 when there is none or it is switched off.
int LandlockAbi();

struct LandlockRules {
  std::vector<PathRule> paths;  // everything else is denied
  bool allow_exec = false;
  bool allow_network = false;
};

// Restricts the calling thread (call it while there is only one). Needs no_new_privs or
// CAP_SYS_ADMIN. Returns the ABI that was enforced. kFailedPrecondition when the kernel has no
// Landlock. A path that cannot be opened is left denied.
Result<int> RestrictWithLandlock(const LandlockRules& rules);

}  // namespace davinci::sandbox
