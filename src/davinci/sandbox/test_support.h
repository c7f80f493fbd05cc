// Shared by this module's tests: victims, temporary directories, a policy that lets a victim start.
#pragma once

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "davinci/sandbox/run.h"

#ifndef DAVINCI_VICTIM_DIR
#define DAVINCI_VICTIM_DIR \
  ""  // the build sets it for the tests; this is for reading the header alone
#endif

namespace davinci::sandbox {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/davinci_sandbox_test_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Sanitizers reserve terabytes of addresses, so RLIMIT_AS ends this program before it can exec a
// victim; and Python cannot load a sanitized library.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// The thread sanitizer keeps a thread of its own in every process, and a process with threads gets
// no namespaces.
inline bool NamespacesUsable() {
#if defined(__SANITIZE_THREAD__)
  return false;
#else
  return DetectedLayers().namespaces_usable;
#endif
}

inline std::string VictimDirectory() { return DAVINCI_VICTIM_DIR; }

// {path of the victim, arguments...}
inline std::vector<std::string> Victim(const std::string& name,
                                       std::vector<std::string> arguments = {}) {
  std::vector<std::string> argv = {VictimDirectory() + "/" + name};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

inline RunRequest VictimRequest(std::vector<std::string> argv, bool namespaces) {
  RunRequest request;
  request.argv = std::move(argv);
  request.timeout = std::chrono::seconds(60);
  AddSystemPaths(&request.policy);
  request.policy.read_only_paths.push_back(VictimDirectory());
  request.policy.allow_exec = true;
  request.policy.allow_fork = true;
  request.policy.new_namespaces = namespaces;
  request.policy.private_tmp_bytes = 8 << 20;
  return request;
}

// The same command without any sandbox, for controls. Returns the exit code, or -1.
inline int RunPlainly(const std::vector<std::string>& argv) {
  std::string command;
  for (const std::string& word : argv) command += "'" + word + "' ";
  const int status =
      system((command + ">/dev/null 2>&1").c_str());  // NOLINT(concurrency-mt-unsafe)
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace davinci::sandbox
