// Run: one command in a sandbox, from start to the last of its processes. For compilers and other
// tools that read untrusted input.
//
//   supervisor (this thread)
//     └ A: intermediate, unshares namespaces, waits
//         └ B: pid 1, builds the root, reaps
//             └ C: command
//
// Where there are no namespaces B is left out and A hunts down descendants instead. Whatever
// happens, when Run() returns no process of the sandbox is left, the output is complete up to its
// cap, and the private /tmp is gone. If the calling thread or process dies, so does the sandbox.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sandbox/layers.h"
#include "davinci/sandbox/limits.h"
#include "davinci/sandbox/policy.h"

namespace davinci::sandbox {

struct RunRequest {
  std::vector<std::string> argv;           // argv[0]: a path, or a name to find in env["PATH"]
  std::map<std::string, std::string> env;  // the whole environment; nothing is inherited
  std::string cwd;                         // as seen inside; empty = policy.scratch_dir, else "/"
  std::chrono::milliseconds timeout{
      60000};  // wall time from the start of the command; must be positive
  uint64_t max_output_bytes =
      1 << 20;  // kept of stdout and of stderr each; the rest is read and dropped

  Policy policy;  // allow_exec must be true
  Limits limits;

  // Disk use of one writable directory, checked five times a second besides limits.file_size_bytes.
  // Empty or 0 = off. Seen from outside the sandbox.
  std::string watched_dir;
  uint64_t watched_dir_max_bytes = 0;

  std::stop_token stop;  // ends the run early (kCancelled)
};

enum class RunEnd {
  kExited,       // exit_code is valid
  kSignalled,    // signal is valid: a crash of the command, or SIGSYS for a call that the sandbox
                 // kills for
  kTimeout,      // wall time, or limits.cpu_seconds
  kOutOfMemory,  // limits.memory_bytes exceeded, or an allocation failed under
                 // limits.address_space_bytes (see below)
  kDiskLimit,    // limits.file_size_bytes (SIGXFSZ) or watched_dir_max_bytes
  kCancelled,
};

// "exited", "signalled", "timeout", "out_of_memory", "disk_limit", "cancelled".
const char* RunEndName(RunEnd end);

struct RunResult {
  RunEnd end = RunEnd::kExited;
  int exit_code = -1;
  int signal = 0;
  std::string out;                // first max_output_bytes of stdout
  std::string err;                // of stderr
  bool output_truncated = false;  // either was longer
  uint64_t out_bytes = 0;         // what was written, kept or not
  uint64_t err_bytes = 0;
  double wall_seconds = 0;  // of the command, without setting up and tearing down the sandbox
  double user_seconds = 0;  // of all processes of the sandbox
  double system_seconds = 0;
  uint64_t max_rss_bytes =
      0;  // of the largest process; never below the caller's own at the time of the call
  ActiveLayers layers;

  bool Succeeded() const { return end == RunEnd::kExited && exit_code == 0; }
};

// Blocks until the command has ended or was ended. Thread-safe; any number at a time. A command
// that fails, hangs or explodes is a RunResult. A Status is for what keeps it from running at all:
// kInvalidArgument (the request), kNotFound (no such program inside the sandbox), kInternal and
// others (the sandbox could not be set up).
//
// Under address_space_bytes the kernel only makes allocations fail, and what follows is up to the
// program; such an end is called kOutOfMemory when the command failed and its stderr says that
// memory ran out, or when it ended in SIGABRT or SIGSEGV with a resident set above three quarters
// of the limit.
Result<RunResult> Run(const RunRequest& request);

}  // namespace davinci::sandbox
