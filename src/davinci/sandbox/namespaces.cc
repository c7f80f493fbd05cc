#include "davinci/sandbox/namespaces.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <set>

#include "davinci/sandbox/capabilities.h"
#include "davinci/sandbox/file_text.h"

namespace davinci::sandbox {
namespace {

std::string NamespaceId(pid_t pid) {
  char target[64];
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/pid";
  const ssize_t n = readlink(path.c_str(), target, sizeof(target));
  return n <= 0 ? std::string() : std::string(target, static_cast<size_t>(n));
}

// Parent of every process the caller can see. Zombies are left out: they run nothing.
std::map<pid_t, pid_t> ReadParents() {
  std::map<pid_t, pid_t> parents;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return parents;
  while (const dirent* entry = readdir(proc)) {  // NOLINT(concurrency-mt-unsafe): own DIR
    const pid_t pid = static_cast<pid_t>(strtol(entry->d_name, nullptr, 10));
    if (pid <= 0) continue;
    const std::string stat = ReadSmallFile("/proc/" + std::to_string(pid) + "/stat");
    // "pid (name) state ppid ..."; the name may contain anything, so look for the last parenthesis.
    const size_t end = stat.rfind(") ");
    if (end == std::string::npos || end + 4 >= stat.size()) continue;
    const char state = stat[end + 2];
    if (state == 'Z' || state == 'X') continue;
    parents[pid] = static_cast<pid_t>(strtol(stat.c_str() + end + 4, nullptr, 10));
  }
  closedir(proc);
  return parents;
}

bool Descends(pid_t pid, pid_t ancestor, const std::map<pid_t, pid_t>& parents) {
  for (int depth = 0; depth < 100000 && pid > 0; ++depth) {
    const auto it = parents.find(pid);
    if (it == parents.end()) return false;
    pid = it->second;
    if (pid == ancestor) return true;
  }
  return false;
}

Status EnterUserNamespace(std::vector<std::string>* missing, bool* entered) {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  *entered = false;
  if (unshare(CLONE_NEWUSER) != 0) {
    missing->push_back(std::string("user namespace: ") + strerror(errno));
    return Status::Ok();
  }
  const std::string uid_map = std::to_string(uid) + " " + std::to_string(uid) + " 1";
  const std::string gid_map = std::to_string(gid) + " " + std::to_string(gid) + " 1";
  if (!WriteSmallFile("/proc/self/setgroups", "deny") && errno != ENOENT) {
    return FromErrno(errno, "user namespace is created but not usable: /proc/self/setgroups");
  }
  if (!WriteSmallFile("/proc/self/uid_map", uid_map) ||
      !WriteSmallFile("/proc/self/gid_map", gid_map)) {
    return FromErrno(errno, "user namespace is created but not usable: /proc/self/uid_map");
  }
  *entered = true;
  return Status::Ok();
}

}  // namespace

std::string NamespaceSet::ToString() const {
  std::string text;
  const auto add = [&text](bool active, const char* name) {
    if (active) text += (text.empty() ? "" : ",") + std::string(name);
  };
  add(user, "user");
  add(pid, "pid");
  add(mount, "mount");
  add(net, "net");
  add(ipc, "ipc");
  add(uts, "uts");
  return text;
}

Result<NamespaceSet> UnshareNamespaces(bool network, std::vector<std::string>* missing) {
  NamespaceSet set;
  if (!HasAdminCapability()) {
    DAVINCI_RETURN_IF_ERROR(EnterUserNamespace(missing, &set.user));
    if (!set.user) return set;
  }
  const auto take = [missing](int flag, const char* name, bool* active) {
    *active = unshare(flag) == 0;
    if (!*active) missing->push_back(std::string(name) + " namespace: " + strerror(errno));
  };
  take(CLONE_NEWNS, "mount", &set.mount);
  take(CLONE_NEWPID, "pid", &set.pid);
  take(CLONE_NEWIPC, "ipc", &set.ipc);
  take(CLONE_NEWUTS, "uts", &set.uts);
  if (network) take(CLONE_NEWNET, "network", &set.net);
  return set;
}

std::vector<pid_t> ProcessesInPidNamespaceOf(pid_t pid) {
  const std::string wanted = NamespaceId(pid);
  const std::map<pid_t, pid_t> parents = ReadParents();
  std::vector<pid_t> found;
  for (const auto& [candidate, parent] : parents) {
    const std::string id = NamespaceId(candidate);
    const bool inside =
        id.empty() || wanted.empty() ? Descends(candidate, pid, parents) : id == wanted;
    if (inside || candidate == pid) found.push_back(candidate);
  }
  return found;
}

std::vector<pid_t> DescendantsOf(pid_t pid) {
  const std::map<pid_t, pid_t> parents = ReadParents();
  std::vector<pid_t> found;
  for (const auto& [candidate, parent] : parents) {
    if (Descends(candidate, pid, parents)) found.push_back(candidate);
  }
  return found;
}

}  // namespace davinci::sandbox
