// Limits: how much of the machine a sandboxed process may use.
//
// In every field 0 means "not limited by us"; whatever the caller's own limits are stays in force.
// Core dumps are always off. Which kernel mechanism carries which field:
//
//   memory_bytes          memory cgroup of the whole tree when one is writable, else a watch on
//                         the tree's resident set (Run only, see run.h)
//   address_space_bytes   RLIMIT_AS, per process. Not with CUDA, which reserves terabytes of
//                         addresses
//   file_size_bytes       RLIMIT_FSIZE, per file. SIGXFSZ on overrun
//   open_files            RLIMIT_NOFILE, per process
//   processes             processes and threads of the whole sandbox: pids cgroup, RLIMIT_NPROC
//                         (counts per sandbox inside a user namespace; does not bind root), or
//                         kernel.pid_max of the pid namespace (never below 301)
//   cpu_seconds           RLIMIT_CPU, per process. SIGXCPU at the limit, SIGKILL one second later
//   stack_bytes           RLIMIT_STACK, main thread, and the default size of new threads after exec
//   locked_memory_bytes   RLIMIT_MEMLOCK, per process
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "davinci/base/status.h"

namespace davinci::sandbox {

struct Limits {
  uint64_t memory_bytes = 0;
  uint64_t address_space_bytes = 0;
  uint64_t file_size_bytes = 0;
  uint64_t open_files = 0;
  uint64_t processes = 0;
  uint64_t cpu_seconds = 0;
  uint64_t stack_bytes = 0;
  uint64_t locked_memory_bytes = 0;

  bool operator==(const Limits&) const = default;
};

// A JSON object with the field names above; absent = 0. An unknown key, a wrong type or a negative
// number is kInvalidArgument naming the key.
Result<Limits> LimitsFromJson(const nlohmann::json& json);
nlohmann::json ToJson(const Limits& limits);

}  // namespace davinci::sandbox
