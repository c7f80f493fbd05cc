// Mounts: a private root directory that contains what the policy lists and nothing else.
#pragma once

#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sandbox/path_rules.h"
#include "davinci/sandbox/policy.h"

namespace davinci::sandbox {

struct RootOptions {
  bool own_pid_namespace = false;  // mount a /proc that shows this pid namespace only
  uint64_t max_processes =
      0;  // bound of the pid namespace where the kernel has one (6.14), 0 = none
  bool thread_names = false;  // Policy::thread_names
};

struct RootResult {
  bool private_root = false;
  bool private_proc = false;       // /proc shows the sandbox's own processes only
  bool private_tmp = false;        // /tmp, /dev/shm and scratch_dir are an own tmpfs
  bool pid_limit = false;          // max_processes is enforced by the pid namespace
  std::vector<PathRule> writable;  // what was created besides the policy's paths, for landlock.h
};

// Replaces the root of the calling process, which must be in its own mount namespace with
// CAP_SYS_ADMIN there: bind mounts of `rules` (read-only ones set so recursively; no set-user-id,
// no device nodes), a read-only /proc, a minimal /dev, and the private tmpfs of the policy. The
// current directory becomes scratch_dir or "/". Descriptors that are open keep working.
//
// Where the kernel refuses the new root (kFailedPrecondition) the process is left with the old one.
Result<RootResult> EnterPrivateRoot(const Policy& policy, const std::vector<PathRule>& rules,
                                    const RootOptions& options, std::vector<std::string>* missing);

}  // namespace davinci::sandbox
