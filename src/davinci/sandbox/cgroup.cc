#include "davinci/sandbox/cgroup.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "davinci/sandbox/file_text.h"

namespace davinci::sandbox {
namespace {

// The directory of the caller's own group for a v1 controller, or in the v2 hierarchy (controller =
// ""). Empty if none.
std::string OwnDirectory(const std::string& controller) {
  const auto has_word = [](const std::string& list, const std::string& word) {
    std::istringstream words(list);
    for (std::string item; std::getline(words, item, ',');) {
      if (item == word) return true;
    }
    return false;
  };
  std::string own_path;
  std::istringstream groups(ReadSmallFile("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has_word(controllers, controller)) {
      own_path = line.substr(second + 1);
      break;
    }
  }
  if (own_path.empty()) return {};

  std::istringstream mounts(ReadSmallFile("/proc/self/mountinfo"));
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string skip, root, mount_point, word, type, source, super_options;
    fields >> skip >> skip >> skip >> root >> mount_point;
    while (fields >> word && word != "-") {
    }
    fields >> type >> source >> super_options;
    if (controller.empty() ? type != "cgroup2"
                           : type != "cgroup" || !has_word(super_options, controller)) {
      continue;
    }
    // In a container the mount may show only a part of the hierarchy.
    std::string relative = own_path;
    if (root != "/" && relative.compare(0, root.size(), root) == 0)
      relative = relative.substr(root.size());
    for (std::string directory : {mount_point + (relative == "/" ? "" : relative), mount_point}) {
      if (access((directory + "/cgroup.procs").c_str(), W_OK) == 0) return directory;
    }
  }
  return {};
}

std::string NewName() {
  static std::atomic<uint64_t> counter = 0;
  return "/davinci-" + std::to_string(getpid()) + "-" + std::to_string(counter.fetch_add(1));
}

uint64_t CountAfter(const std::string& text, const std::string& label) {
  int value = 0;
  return FindNumber("\n" + text, "\n" + label, &value) && value > 0 ? static_cast<uint64_t>(value)
                                                                    : 0;
}

}  // namespace

Result<std::unique_ptr<Cgroup>> Cgroup::Create(const Limits& limits, uint64_t extra_processes) {
  std::unique_ptr<Cgroup> group(new Cgroup());
  const std::string name = NewName();
  const std::string memory = std::to_string(limits.memory_bytes);
  const std::string processes = std::to_string(limits.processes + extra_processes);
  std::string reason;

  const auto make = [&](const std::string& parent) -> std::string {
    if (parent.empty()) {
      reason = "no writable cgroup";
      return {};
    }
    std::string directory = parent + name;
    if (mkdir(directory.c_str(), 0755) != 0) {
      reason = directory + ": " + strerror(errno);
      return {};
    }
    group->directories_.push_back(directory);
    return directory;
  };

  // v2 first; on machines with both, the controllers usually sit in the v1 hierarchies.
  if (const std::string parent = OwnDirectory(""); !parent.empty()) {
    // Fails when the group has processes of its own (it is then a leaf by the kernel's rules) or no
    // such controller.
    (void)WriteSmallFile(parent + "/cgroup.subtree_control", "+memory +pids");
    const std::string controllers = " " + ReadSmallFile(parent + "/cgroup.subtree_control");
    if (controllers.find("memory") != std::string::npos ||
        controllers.find("pids") != std::string::npos) {
      if (const std::string directory = make(parent); !directory.empty()) {
        group->version_ = 2;
        if (limits.memory_bytes != 0 && WriteSmallFile(directory + "/memory.max", memory)) {
          (void)WriteSmallFile(directory + "/memory.swap.max", "0");
          group->memory_directory_ = directory;
        }
        if (limits.processes != 0 && WriteSmallFile(directory + "/pids.max", processes)) {
          group->pids_directory_ = directory;
        }
      }
    } else {
      reason = parent + " delegates no memory or pids controller";
    }
  }
  if (group->version_ == 0) {
    if (limits.memory_bytes != 0) {
      const std::string directory = make(OwnDirectory("memory"));
      if (!directory.empty() && WriteSmallFile(directory + "/memory.limit_in_bytes", memory)) {
        group->memory_directory_ = directory;
        group->version_ = 1;
      }
    }
    if (limits.processes != 0) {
      const std::string directory = make(OwnDirectory("pids"));
      if (!directory.empty() && WriteSmallFile(directory + "/pids.max", processes)) {
        group->pids_directory_ = directory;
        group->version_ = 1;
      }
    }
  }
  if (!group->limits_memory() && !group->limits_processes()) {
    return FailedPrecondition("cgroup: " + (reason.empty() ? "limits could not be set" : reason));
  }
  return group;
}

Cgroup::~Cgroup() {
  KillAll();
  for (const std::string& directory : directories_) {
    // A group stays busy for a moment after its last process has gone.
    for (int attempt = 0; rmdir(directory.c_str()) != 0 && errno == EBUSY && attempt < 500;
         ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

Status Cgroup::Add(pid_t pid) {
  for (const std::string& directory : directories_) {
    if (!WriteSmallFile(directory + "/cgroup.procs", std::to_string(pid))) {
      return FromErrno(errno, directory + "/cgroup.procs");
    }
  }
  return Status::Ok();
}

uint64_t Cgroup::OomKills() const {
  if (!limits_memory()) return 0;
  const char* file = version_ == 2 ? "/memory.events" : "/memory.oom_control";
  return CountAfter(ReadSmallFile(memory_directory_ + file), "oom_kill ");
}

void Cgroup::KillAll() {
  for (const std::string& directory : directories_) {
    for (int attempt = 0; attempt < 2000; ++attempt) {
      const std::string members = ReadSmallFile(directory + "/cgroup.procs");
      if (members.empty()) break;
      if (version_ != 2 || !WriteSmallFile(directory + "/cgroup.kill", "1")) {
        std::istringstream pids(members);
        for (pid_t pid = 0; pids >> pid;) {
          if (pid > 0) kill(pid, SIGKILL);
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace davinci::sandbox
