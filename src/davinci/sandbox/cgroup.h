// Control groups: memory and process limits for a whole tree of processes. Optional: they need a
// writable cgroup, which root usually has and an ordinary user only by delegation.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sandbox/limits.h"

namespace davinci::sandbox {

// One group below the caller's own, in the v2 hierarchy or in the v1 memory and pids hierarchies.
// Removed by the destructor, which kills what is still inside. Not thread-safe; one owner.
class Cgroup {
 public:
  // Sets the memory and process limits that are not 0, those of them that the machine's cgroups can
  // hold. `extra_processes` is added to the process limit for helpers of our own.
  // kFailedPrecondition, with the reason, when none can be held.
  static Result<std::unique_ptr<Cgroup>> Create(const Limits& limits, uint64_t extra_processes);
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Moves a process in; what it forks afterwards is inside as well.
  Status Add(pid_t pid);

  int version() const { return version_; }  // 1 or 2
  bool limits_memory() const { return !memory_directory_.empty(); }
  bool limits_processes() const { return !pids_directory_.empty(); }

  // Processes that the kernel killed in this group for want of memory.
  uint64_t OomKills() const;
  // SIGKILL to everything inside. Returns when nothing is left or after two seconds.
  void KillAll();

 private:
  Cgroup() = default;

  int version_ = 0;
  std::string memory_directory_;  // both the same in v2
  std::string pids_directory_;
  std::vector<std::string> directories_;  // to remove
};

}  // namespace davinci::sandbox
