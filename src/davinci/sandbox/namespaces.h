// Namespaces: an empty network, a pid space that dies as a whole, private mounts, IPC and host
// name.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::sandbox {

struct NamespaceSet {
  bool user = false;
  bool pid = false;
  bool mount = false;
  bool net = false;
  bool ipc = false;
  bool uts = false;

  // "user,pid,mount"; empty when there is none.
  std::string ToString() const;
};

// Moves the calling, single-threaded process into as many new namespaces as the kernel allows; the
// pid namespace takes effect for its next child, which becomes pid 1 there. Without CAP_SYS_ADMIN a
// user namespace comes first, in which the caller keeps its own user and group id. A namespace that
// is refused is left out and explained in `missing`
// ("network namespace: Operation not permitted").
//
// Fails only when the process has ended up in a user namespace that it cannot use (some
// distributions allow creating one but nothing in it); such a process must not go on.
// DetectLayers() finds that out beforehand.
Result<NamespaceSet> UnshareNamespaces(bool network, std::vector<std::string>* missing);

// All processes in the pid namespace of `pid` (itself included), as the caller numbers them. Those
// whose namespace the caller may not read are counted when they descend from `pid`. For the
// supervisor: after the lock the answer must be exactly {pid}.
std::vector<pid_t> ProcessesInPidNamespaceOf(pid_t pid);

// All living descendants of `pid`, without itself.
std::vector<pid_t> DescendantsOf(pid_t pid);

}  // namespace davinci::sandbox
