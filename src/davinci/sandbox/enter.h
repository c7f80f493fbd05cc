// Enter: puts all layers on the calling process in the only order that works. What Run(), the
// worker and DetectLayers() share.
//
//   intermediate process    UnshareNamespaces()   (namespaces.h)
//     └ its child, pid 1    EnterView()           new root, /proc, tmpfs; needs the namespaces'
//                                                 capabilities
//                           EnterConfinement()    rlimits, no capabilities, no_new_privs, Landlock,
//                                                 seccomp
#pragma once

#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sandbox/active_layers.h"
#include "davinci/sandbox/namespaces.h"
#include "davinci/sandbox/path_rules.h"
#include "davinci/sandbox/policy.h"

namespace davinci::sandbox {

// The file tree as the process sees it. Where no private root can be made the old one stays
// (Landlock then carries the file policy) and the current directory becomes scratch_dir if there is
// one. `rules` receives what Landlock has to allow.
Result<ActiveLayers> EnterView(const Spec& spec, const NamespaceSet& namespaces,
                               std::vector<std::string> missing, std::vector<PathRule>* rules);

// Everything else, for good. `lockable` prepares LockSeccomp().
Status EnterConfinement(const Spec& spec, const std::vector<PathRule>& rules, bool lockable,
                        ActiveLayers* layers);

// Both in one process. A layer the kernel does not have is listed in `missing`; one that it has but
// that fails is an error, after which the process must not run untrusted code.
Result<ActiveLayers> EnterSandbox(const Spec& spec, const NamespaceSet& namespaces,
                                  std::vector<std::string> missing, bool lockable);

}  // namespace davinci::sandbox
