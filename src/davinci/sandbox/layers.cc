#include "davinci/sandbox/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "davinci/base/json_text.h"
#include "davinci/sandbox/cgroup.h"
#include "davinci/sandbox/enter.h"
#include "davinci/sandbox/seccomp.h"

namespace davinci::sandbox {
namespace {

volatile int g_thread_ran = 0;

[[maybe_unused]] __attribute__((no_sanitize("address"))) int NoteThread(void*) {
  g_thread_ran = 1;
  return 0;
}

// Whether a new thread can start. Made by hand: the probe is a fork of a process with threads,
// where starting a std::thread is not safe (sanitizers hang or refuse).
bool ThreadStarts() {
#if defined(__SANITIZE_THREAD__)
  return true;  // this sanitizer cannot live with a thread that it did not start
#else
  alignas(16) static char stack[65536];
  const int flags =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  if (clone(NoteThread, stack + sizeof(stack), flags, nullptr) < 0) return false;
  for (int ms = 0; ms < 1000 && g_thread_ran == 0; ++ms) usleep(1000);
  return g_thread_ran == 1;
#endif
}

// Runs in pid 1 of the probe: the whole sandbox, then the lock, then what the lock must deny.
nlohmann::json ProbeInside(const Spec& spec, const NamespaceSet& namespaces,
                           std::vector<std::string> missing) {
  Result<ActiveLayers> layers =
      EnterSandbox(spec, namespaces, std::move(missing), /*lockable=*/true);
  if (!layers.ok()) return {{"error", layers.status().ToString()}};
  nlohmann::json result = {{"layers", ToJson(*layers)}, {"lock_holds", false}};
  if (!LockSeccomp().ok()) return result;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const bool fork_denied = child < 0 && errno == EPERM;
  if (child > 0) waitpid(child, nullptr, 0);
  char path[] = "/bin/true";
  char* argv[] = {path, nullptr};
  char* env[] = {nullptr};
  // Were exec allowed, this process would end here without an answer, which reads as "does not
  // hold".
  const bool exec_denied = execve(path, argv, env) != 0 && errno == EPERM;
  result["lock_holds"] = fork_denied && exec_denied && ThreadStarts();
  return result;
}

// Builds the sandbox in a child of a child, as the worker does, and returns its account; null if it
// died.
nlohmann::json Probe(bool new_namespaces) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return nullptr;
  Spec spec;
  AddSystemPaths(&spec.policy);
  spec.policy.private_tmp_bytes = 1 << 20;
  spec.policy.new_namespaces = new_namespaces;
  spec.limits.open_files = 256;
  const auto send = [&channel](const nlohmann::json& json) {
    const std::string text = JsonText(json);
    (void)!write(channel[1], text.data(), text.size());
  };
  const pid_t outer = fork();
  if (outer == 0) {
    std::vector<std::string> missing;
    NamespaceSet namespaces;
    if (new_namespaces) {
      Result<NamespaceSet> set = UnshareNamespaces(/*network=*/true, &missing);
      if (!set.ok()) {
        send({{"error", set.status().ToString()}, {"unusable", true}});
        _exit(1);
      }
      namespaces = *set;
    }
    const pid_t inner = fork();
    if (inner == 0) {
      send(ProbeInside(spec, namespaces, std::move(missing)));
      _exit(0);
    }
    if (inner > 0) waitpid(inner, nullptr, 0);
    _exit(0);
  }
  close(channel[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n;
       (n = read(channel[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR);) {
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
  }
  close(channel[0]);
  while (outer > 0 && waitpid(outer, nullptr, 0) < 0 && errno == EINTR) {
  }
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? nlohmann::json(nullptr) : json;
}

}  // namespace

std::vector<std::string> LayerReport::Advice() const {
  std::vector<std::string> advice;
  if (active.landlock_abi == 0) {
    advice.push_back(
        "Landlock is off: it needs Linux 5.13 or later with \"landlock\" in the kernel's lsm= "
        "list");
  } else if (active.landlock_abi < 6) {
    advice.push_back("Landlock is old (ABI " + std::to_string(active.landlock_abi) +
                     "): Linux 6.12 adds the signal and abstract socket scopes");
  }
  if (!active.namespaces.pid || !active.namespaces.mount || !active.namespaces.net) {
    advice.push_back(
        "namespaces are refused: allow unprivileged user namespaces (sysctl "
        "kernel.unprivileged_userns_clone=1; on "
        "Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0), or in a container run with "
        "--cap-add SYS_ADMIN");
  }
  if (!active.seccomp)
    advice.push_back("seccomp filters are refused: the kernel needs CONFIG_SECCOMP_FILTER");
  if (active.seccomp && !active.lock_immutable) {
    advice.push_back(
        "the lock is not sealed against its own process: Linux 6.10 or later has mseal");
  }
  if (cgroup_version == 0) {
    advice.push_back(
        "no writable cgroup: memory of compilers is watched from outside instead of being limited");
  }
  return advice;
}

nlohmann::json ToJson(const LayerReport& report) {
  return {{"active", ToJson(report.active)},   {"as_root", report.as_root},
          {"kernel", report.kernel},           {"cgroup_version", report.cgroup_version},
          {"lock_holds", report.lock_holds},   {"namespaces_usable", report.namespaces_usable},
          {"sufficient", report.Sufficient()}, {"advice", report.Advice()}};
}

LayerReport DetectLayers() {
  LayerReport report;
  report.as_root = geteuid() == 0;
  utsname name;
  if (uname(&name) == 0) report.kernel = name.release;

  nlohmann::json found = Probe(/*new_namespaces=*/true);
  std::string trouble;
  if (!found.is_object() || !found.contains("layers")) {
    trouble = found.is_object() && found.contains("error") ? found["error"].get<std::string>()
                                                           : "the probe of the sandbox died";
    report.namespaces_usable = false;
    found = Probe(/*new_namespaces=*/false);
  }
  if (found.is_object() && found.contains("layers")) {
    if (Result<ActiveLayers> layers = ActiveLayersFromJson(found["layers"]); layers.ok()) {
      report.active = *layers;
      report.lock_holds = found.value("lock_holds", false);
    }
  } else if (found.is_object() && found.contains("error")) {
    report.active.missing.push_back(found["error"].get<std::string>());
  }
  if (!trouble.empty()) report.active.missing.push_back(trouble);

  Limits limits;
  limits.memory_bytes = 64 << 20;
  limits.processes = 8;
  if (Result<std::unique_ptr<Cgroup>> group = Cgroup::Create(limits, 0); group.ok()) {
    report.cgroup_version = (*group)->version();
    report.active.cgroup_memory = (*group)->limits_memory();
    report.active.cgroup_processes = (*group)->limits_processes();
  } else {
    report.active.missing.push_back(group.status().message());
  }
  return report;
}

const LayerReport& DetectedLayers() {
  static const LayerReport report = DetectLayers();
  return report;
}

}  // namespace davinci::sandbox
