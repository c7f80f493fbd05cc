// LayerReport: which layers (active_layers.h) this machine can offer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "davinci/sandbox/active_layers.h"

namespace davinci::sandbox {

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
