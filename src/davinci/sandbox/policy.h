// Policy: what a sandboxed process may see and do. The front header of this module; read it first.
//
// The sandbox is a stack of independent Linux mechanisms, one file pair each. Everything is denied
// unless the policy lists it, and each denial is held by as many layers as the machine offers:
//
//   files      a private root made of bind mounts (mounts.h) and Landlock rules (landlock.h)
//   network    an empty network namespace, seccomp on socket(), Landlock TCP rules
//   processes  a pid namespace that dies as a whole (namespaces.h), seccomp, Landlock signal scope
//   resources  rlimits (rlimits.h), cgroups (cgroup.h), a tmpfs of bounded size
//   kernel     no capabilities, no_new_privs, seccomp (seccomp.h)
//
// Three ways in: Run() (run.h) runs one command, for compilers; the C ABI (worker_abi.h) confines a
// forked Python worker; DetectLayers() (layers.h) says what this machine can do. Everything works
// as root and as an ordinary user; a layer that is not available is left out and named in the
// report, never skipped silently.
//
// What the sandbox does not do: it does not close file descriptors for the worker (a directory
// descriptor left open is a way out of the private root; open everything O_CLOEXEC and close before
// entering), and it does not limit GPU memory.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sandbox/limits.h"

namespace davinci::sandbox {

struct Policy {
  // Absolute paths of files or directories (with everything beneath). A path that does not exist is
  // ignored, so that one policy serves several distributions. "/" is refused: list what is needed.
  // Symbolic links are followed once, now; the name stays usable inside. A longer path wins over
  // the shorter one that contains it.
  std::vector<std::string> read_only_paths;   // read, list, map; execute if allow_exec
  std::vector<std::string> read_write_paths;  // also create, write, rename, remove
  // Device nodes (read, write, ioctl); shell patterns are expanded: "/dev/nvidia*". /dev/null,
  // zero, full, random and urandom are always there.
  std::vector<std::string> device_paths;
  // Writable working directory, becomes the current directory. Private and empty (part of the
  // tmpfs) where a mount namespace is available and private_tmp_bytes > 0, else the caller's
  // directory of that name. Empty = none, "/".
  std::string scratch_dir;
  // Size of the private tmpfs behind /tmp, /dev/shm and scratch_dir together. 0 = no tmpfs: then
  // /tmp and /dev/shm exist only if listed above.
  uint64_t private_tmp_bytes = 0;

  bool allow_network = false;
  bool allow_exec = false;  // Run() needs it
  bool allow_fork = false;  // threads are always allowed
  // Let the process name its threads (/proc/self/task/*/comm): CUDA's driver does not start where
  // it cannot.
  bool thread_names = false;
  // Use user, pid, ipc, net, mount and uts namespaces as far as the kernel lets this user.
  bool new_namespaces = true;

  bool operator==(const Policy&) const = default;
};

// Adds what any dynamically linked program needs to start and run: /usr and its aliases, the
// loader's cache, time zone, names of users, CPU topology. No home directories, no /etc as a whole,
// no /run.
void AddSystemPaths(Policy* policy);

// A JSON object with the field names above.
nlohmann::json ToJson(const Policy& policy);

// What one sandbox needs, and what the C ABI takes: the JSON of a Policy with an optional member
// "limits".
struct Spec {
  Policy policy;
  Limits limits;
};
Result<Spec> SpecFromText(const std::string& text);
nlohmann::json ToJson(const Spec& spec);

// kInvalidArgument for relative paths and "/".
Status Validate(const Policy& policy);

}  // namespace davinci::sandbox
