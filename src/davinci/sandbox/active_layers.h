// ActiveLayers: which mechanisms are in force around one process.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sandbox/namespaces.h"

namespace davinci::sandbox {

// A verdict carries them as evidence.
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

}  // namespace davinci::sandbox
