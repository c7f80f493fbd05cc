// Layers: which mechanisms hold a sandboxed process, and which this machine can offer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sandbox/namespaces.h"

namespace davinci::sandbox {

// What is in force around one process; evidence for its verdict.
struct ActiveLayers {
  int landlock_abi = 0;  // 0 = none
  NamespaceSet namespaces;
  bool private_root = false;
  bool private_proc = false;
  bool private_tmp = false;
  bool no_capabilities = false;
  bool no_new_privs = false;
  bool rlimits = false;
  bool seccomp = false;
  bool lock_prepared = false;   // kLocked can be installed
  bool lock_immutable = false;  // and cannot be tampered with (seccomp.h)
  bool cgroup_memory = false;
  bool cgroup_processes = false;
  bool pid_limit = false;            // the pid namespace bounds the number of processes
  std::vector<std::string> missing;  // "private root: pivot_root: Invalid argument"

  // Files outside the policy are out of reach.
  bool ConfinesFiles() const { return private_root || landlock_abi >= 1; }
  // No connection to anything that is not on the local machine.
  bool ConfinesNetwork() const { return namespaces.net || seccomp; }
  // Nothing survives the end of the sandbox, and other processes are out of reach.
  bool ConfinesProcesses() const { return namespaces.pid; }
};

nlohmann::json ToJson(const ActiveLayers& layers);
Result<ActiveLayers> ActiveLayersFromJson(const nlohmann::json& json);

struct LayerReport {
  ActiveLayers active;      // what a sandbox with everything switched on got on this machine
  bool as_root = false;     // effective uid 0
  std::string kernel;       // "6.18.44"
  int cgroup_version = 0;   // 0 = no writable cgroup
  bool lock_holds = false;  // after locking, fork and exec were denied and threads still worked
  // False where a user namespace can be created but not used; then policies need new_namespaces =
  // false.
  bool namespaces_usable = true;

  // Enough to run untrusted code: files, network and system calls are confined.
  bool Sufficient() const {
    return active.ConfinesFiles() && active.ConfinesNetwork() && active.seccomp && lock_holds;
  }
  // What would close the gaps, for a person: "Landlock needs Linux 5.13 with lsm=landlock". Empty
  // when nothing is missing.
  std::vector<std::string> Advice() const;
};

nlohmann::json ToJson(const LayerReport& report);

// Finds out by building a real sandbox in a forked child and trying things in it (about 10 ms).
// Never fails: what could not be tried is reported as missing.
LayerReport DetectLayers();

// The same, detected once per process. Thread-safe.
const LayerReport& DetectedLayers();

}  // namespace davinci::sandbox
