#include "davinci/sandbox/enter.h"

#include <errno.h>
#include <unistd.h>

#include "davinci/sandbox/capabilities.h"
#include "davinci/sandbox/file_text.h"
#include "davinci/sandbox/landlock.h"
#include "davinci/sandbox/mounts.h"
#include "davinci/sandbox/rlimits.h"
#include "davinci/sandbox/seccomp.h"

namespace davinci::sandbox {

Result<ActiveLayers> EnterView(const Spec& spec, const NamespaceSet& namespaces,
                               std::vector<std::string> missing, std::vector<PathRule>* rules) {
  ActiveLayers layers;
  layers.namespaces = namespaces;
  layers.missing = std::move(missing);
  *rules = ResolvePaths(spec.policy);
  if (namespaces.mount) {
    const RootOptions options = {namespaces.pid, spec.limits.processes, spec.policy.thread_names};
    Result<RootResult> root = EnterPrivateRoot(spec.policy, *rules, options, &layers.missing);
    if (root.ok()) {
      layers.private_root = root->private_root;
      layers.private_proc = root->private_proc;
      layers.private_tmp = root->private_tmp;
      layers.pid_limit = root->pid_limit;
      rules->insert(rules->end(), root->writable.begin(), root->writable.end());
    } else if (root.status().code() == StatusCode::kFailedPrecondition) {
      layers.missing.push_back(root.status().message());
    } else {
      return root.status();
    }
  }
  if (!layers.private_root && !spec.policy.scratch_dir.empty()) {
    if (chdir(spec.policy.scratch_dir.c_str()) != 0) {
      return FromErrno(errno, "entering the scratch directory " + spec.policy.scratch_dir);
    }
    rules->push_back(
        {spec.policy.scratch_dir, spec.policy.scratch_dir, PathAccess::kReadWrite, true});
  }
  // Programs read about themselves in /proc; other processes' secrets there need ptrace rights,
  // which no process inside has.
  rules->push_back({"/proc", "/proc", PathAccess::kReadOnly, true});
  if (spec.policy.thread_names)
    rules->push_back({"/proc/self/task", "/proc/self/task", PathAccess::kReadWrite, true});
  return layers;
}

Status EnterConfinement(const Spec& spec, const std::vector<PathRule>& rules, bool lockable,
                        ActiveLayers* layers) {
  const Policy& policy = spec.policy;
#if !defined(__SANITIZE_THREAD__)  // which has a thread of its own in every process
  // Capabilities and Landlock belong to threads; one that exists already would stay outside.
  int threads = 0;
  if (FindNumber(ReadSmallFile("/proc/self/status"), "\nThreads:", &threads) && threads != 1) {
    return FailedPrecondition("the sandbox must be entered while the process has one thread, not " +
                              std::to_string(threads));
  }
#endif
  DAVINCI_RETURN_IF_ERROR(ApplyRlimits(spec.limits, layers->namespaces.user));
  layers->rlimits = true;
  DAVINCI_RETURN_IF_ERROR(DropCapabilities());
  layers->no_capabilities = true;
  DAVINCI_RETURN_IF_ERROR(SetNoNewPrivs());
  layers->no_new_privs = true;
  if (LandlockAbi() > 0) {
    DAVINCI_ASSIGN_OR_RETURN(layers->landlock_abi, RestrictWithLandlock({rules, policy.allow_exec,
                                                                         policy.allow_network}));
  } else {
    layers->missing.emplace_back("Landlock is not available in this kernel");
  }
  DAVINCI_ASSIGN_OR_RETURN(
      layers->lock_immutable,
      EnterSeccompLoad({policy.allow_network, policy.allow_fork, policy.allow_exec}, lockable));
  layers->seccomp = true;
  layers->lock_prepared = lockable;
  return Status::Ok();
}

Result<ActiveLayers> EnterSandbox(const Spec& spec, const NamespaceSet& namespaces,
                                  std::vector<std::string> missing, bool lockable) {
  std::vector<PathRule> rules;
  DAVINCI_ASSIGN_OR_RETURN(ActiveLayers layers,
                           EnterView(spec, namespaces, std::move(missing), &rules));
  DAVINCI_RETURN_IF_ERROR(EnterConfinement(spec, rules, lockable, &layers));
  return layers;
}

}  // namespace davinci::sandbox
