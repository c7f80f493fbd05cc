#include "davinci/sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "davinci/sandbox/file_text.h"

namespace davinci::sandbox {
namespace {

// The place where the new root is assembled before it becomes "/". Sources are held open by
// descriptor, so hiding this directory hides none of them.
constexpr char kStage[] = "/tmp";
constexpr uint64_t kSkeletonBytes = 1 << 20;
constexpr int kMaxInodes = 1 << 17;

std::string Staged(const std::string& path) { return kStage + path; }

std::string FdPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// mkdir -p beneath the stage.
bool MakeDirectories(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) {
      struct stat info;
      if (stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
    }
    if (slash == std::string::npos) return true;
  }
}

std::string Parent(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

bool MakeMountPoint(const std::string& target, bool is_directory) {
  struct stat info;
  if (stat(target.c_str(), &info) == 0) return S_ISDIR(info.st_mode) == is_directory;
  if (is_directory) return MakeDirectories(target);
  if (!MakeDirectories(Parent(target))) return false;
  const int fd = open(target.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  close(fd);
  return true;
}

bool SetMountFlags(const std::string& target, uint64_t attributes, unsigned long flags,
                   bool recursive) {
  struct mount_attr attr = {};
  attr.attr_set = attributes;
  if (syscall(SYS_mount_setattr, AT_FDCWD, target.c_str(), recursive ? AT_RECURSIVE : 0, &attr,
              sizeof(attr)) == 0) {
    return true;
  }
  if (errno != ENOSYS) return false;
  // Before 5.12: this mount only, keeping the flags that an unprivileged caller must not clear.
  struct statvfs now;
  if (statvfs(target.c_str(), &now) != 0) return false;
  for (auto [have, keep] : {std::pair<unsigned long, unsigned long>{ST_NOEXEC, MS_NOEXEC},
                            {ST_NODEV, MS_NODEV},
                            {ST_NOSUID, MS_NOSUID},
                            {ST_RDONLY, MS_RDONLY},
                            {ST_NOATIME, MS_NOATIME},
                            {ST_NODIRATIME, MS_NODIRATIME},
                            {ST_RELATIME, MS_RELATIME}}) {
    if ((now.f_flag & have) != 0) flags |= keep;
  }
  return mount(nullptr, target.c_str(), nullptr, MS_REMOUNT | MS_BIND | flags, nullptr) == 0;
}

Status BindRule(const PathRule& rule, int source_fd) {
  const std::string target = Staged(rule.real);
  if (!MakeMountPoint(target, rule.is_directory))
    return FromErrno(errno, "mount point for " + rule.real);
  if (mount(FdPath(source_fd).c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return FromErrno(errno, "bind mount of " + rule.real);
  }
  uint64_t attributes = MOUNT_ATTR_NOSUID;
  unsigned long flags = MS_NOSUID;
  if (rule.access != PathAccess::kDevice) {
    attributes |= MOUNT_ATTR_NODEV;
    flags |= MS_NODEV;
  }
  if (rule.access == PathAccess::kReadOnly) {
    attributes |= MOUNT_ATTR_RDONLY;
    flags |= MS_RDONLY;
  }
  if (!SetMountFlags(target, attributes, flags, /*recursive=*/true)) {
    return FromErrno(errno, "mount flags of " + rule.real);
  }
  return Status::Ok();
}

bool Listed(const std::vector<PathRule>& rules, const std::string& path) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const PathRule& rule) { return rule.real == path; });
}

// True when the bind mount of an ancestor already brings rule i along with the right access.
bool ComesWithAnother(const std::vector<PathRule>& rules, size_t i) {
  bool covered = false;
  for (size_t j = 0; j < i; ++j) {
    if (!IsBeneath(rules[i].real, rules[j].real)) continue;
    if (rules[j].access != rules[i].access) return false;
    covered = true;
  }
  return covered;
}

// A directory of the stage's own tmpfs that stays writable when the root becomes read-only.
bool MakeWritable(const std::string& path, RootResult* result) {
  const std::string target = Staged(path);
  struct stat info;
  const bool on_stage = lstat(target.c_str(), &info) != 0 || S_ISDIR(info.st_mode);
  if (!on_stage || !MakeDirectories(target)) return false;
  // If a parent is a bind mount (scratch inside a listed tree), an own directory is laid over it.
  struct stat stage;
  if (stat(kStage, &stage) != 0 || stat(target.c_str(), &info) != 0) return false;
  std::string source = target;
  if (info.st_dev != stage.st_dev) {
    source = Staged("/.private");
    if (mkdir(source.c_str(), 0700) != 0 && errno != EEXIST) return false;
  }
  if (chmod(source.c_str(), path == "/tmp" || path == "/dev/shm" ? 01777 : 0700) != 0) return false;
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0) return false;
  if (!SetMountFlags(target, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, MS_NOSUID | MS_NODEV, false))
    return false;
  result->writable.push_back({path, path, PathAccess::kReadWrite, true});
  return true;
}

// kernel.pid_max belongs to the pid namespace since 6.14. Before that it is one number for the
// whole machine, which must not be touched.
bool PidMaxIsPerNamespace() {
  utsname name;
  int major = 0;
  int minor = 0;
  if (uname(&name) != 0) return false;
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote the text
  if (sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 14);
}

void MountProc(const RootOptions& options, int old_proc_fd, RootResult* result,
               std::vector<std::string>* missing) {
  const std::string target = Staged("/proc");
  if (mkdir(target.c_str(), 0555) != 0 && errno != EEXIST) return;
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (options.own_pid_namespace && mount("proc", target.c_str(), "proc", flags, nullptr) == 0) {
    result->private_proc = true;
    if (options.max_processes != 0 && PidMaxIsPerNamespace()) {
      constexpr uint64_t kSmallest = 301;  // the kernel keeps 300 numbers for its own start
      result->pid_limit =
          WriteSmallFile(target + "/sys/kernel/pid_max",
                         std::to_string(std::max(kSmallest, options.max_processes + 2)));
    }
  } else {
    missing->push_back(std::string("private /proc: ") + strerror(errno));
    if (mount(FdPath(old_proc_fd).c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      return;
  }
  // Read-only: nothing under /proc is for a candidate to change, /proc/self/mem least of all.
  (void)SetMountFlags(target,
                      MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                      flags | MS_RDONLY, /*recursive=*/true);
  if (!options.thread_names || !result->private_proc) return;
  const std::string tasks = target + "/self/task";
  if (mount(tasks.c_str(), tasks.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      mount(nullptr, tasks.c_str(), nullptr, MS_BIND | MS_REMOUNT | flags, nullptr) != 0)
    missing->push_back(std::string("writable thread names: ") + strerror(errno));
}

void MakeDeviceLinks() {
  (void)MakeDirectories(Staged("/dev"));
  for (auto [name, to] : {std::pair<const char*, const char*>{"/dev/fd", "/proc/self/fd"},
                          {"/dev/stdin", "/proc/self/fd/0"},
                          {"/dev/stdout", "/proc/self/fd/1"},
                          {"/dev/stderr", "/proc/self/fd/2"}}) {
    (void)symlink(to, Staged(name).c_str());
  }
}

// Names that reach their object through a symbolic link keep working.
void MakeAlias(const PathRule& rule) {
  if (rule.path == rule.real) return;
  const std::string link = Staged(rule.path);
  struct stat info;
  if (lstat(link.c_str(), &info) == 0) return;
  if (MakeDirectories(Parent(link))) (void)symlink(rule.real.c_str(), link.c_str());
}

Status Assemble(const Policy& policy, const std::vector<PathRule>& rules,
                const std::vector<int>& sources, int old_proc_fd, int scratch_fd,
                const RootOptions& options, RootResult* result, std::vector<std::string>* missing) {
  MakeDeviceLinks();
  MountProc(options, old_proc_fd, result, missing);
  if (policy.private_tmp_bytes > 0) {
    result->private_tmp = true;
    for (const char* path : {"/tmp", "/dev/shm"}) {
      if (!Listed(rules, path) && !MakeWritable(path, result)) {
        result->private_tmp = false;
        missing->push_back(std::string("private ") + path + ": " + strerror(errno));
      }
    }
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    const PathRule& rule = rules[i];
    if (sources[i] < 0 || IsBeneath(rule.real, "/proc")) continue;
    if (ComesWithAnother(rules, i)) continue;
    DAVINCI_RETURN_IF_ERROR(BindRule(rule, sources[i]));
  }
  for (const PathRule& rule : rules) MakeAlias(rule);
  if (!policy.scratch_dir.empty()) {
    if (policy.private_tmp_bytes > 0) {
      if (!MakeWritable(policy.scratch_dir, result)) {
        return FromErrno(errno, "private scratch directory " + policy.scratch_dir);
      }
    } else if (scratch_fd >= 0) {
      const PathRule rule = {policy.scratch_dir, policy.scratch_dir, PathAccess::kReadWrite, true};
      DAVINCI_RETURN_IF_ERROR(BindRule(rule, scratch_fd));
      result->writable.push_back(rule);
    } else {
      return NotFound("scratch directory " + policy.scratch_dir + " does not exist");
    }
  }
  return Status::Ok();
}

}  // namespace

Result<RootResult> EnterPrivateRoot(const Policy& policy, const std::vector<PathRule>& rules,
                                    const RootOptions& options, std::vector<std::string>* missing) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return FailedPrecondition(std::string("private root: making mounts private: ") +
                              strerror(errno));
  }
  std::vector<int> sources;
  for (const PathRule& rule : rules) sources.push_back(open(rule.real.c_str(), O_PATH | O_CLOEXEC));
  const int old_proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int scratch_fd = policy.scratch_dir.empty()
                             ? -1
                             : open(policy.scratch_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const auto close_sources = [&] {
    for (int fd : sources) {
      if (fd >= 0) close(fd);
    }
    if (old_proc_fd >= 0) close(old_proc_fd);
    if (scratch_fd >= 0) close(scratch_fd);
  };

  const std::string tmpfs_options = "mode=0755,nr_inodes=" + std::to_string(kMaxInodes) + ",size=" +
                                    std::to_string(policy.private_tmp_bytes + kSkeletonBytes);
  if (mount("sandbox", kStage, "tmpfs", MS_NOSUID | MS_NODEV, tmpfs_options.c_str()) != 0) {
    const int error = errno;
    close_sources();
    return FailedPrecondition(std::string("private root: tmpfs: ") + strerror(error));
  }
  RootResult result;
  Status status =
      Assemble(policy, rules, sources, old_proc_fd, scratch_fd, options, &result, missing);
  close_sources();
  if (!status.ok()) {
    umount2(kStage, MNT_DETACH);
    return FailedPrecondition(status.Annotate("private root").message());
  }
  // The new root lands on top of the old one, which is then detached from beneath it.
  if (chdir(kStage) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) {
    const int error = errno;
    (void)!chdir("/");
    umount2(kStage, MNT_DETACH);
    return FailedPrecondition(std::string("private root: pivot_root: ") + strerror(error));
  }
  // From here on there is no way back, so failures are real errors.
  if (umount2(".", MNT_DETACH) != 0) return FromErrno(errno, "detaching the old root");
  if (!SetMountFlags("/", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
                     MS_RDONLY | MS_NOSUID | MS_NODEV, /*recursive=*/false)) {
    return FromErrno(errno, "making the root read-only");
  }
  const char* directory = policy.scratch_dir.empty() ? "/" : policy.scratch_dir.c_str();
  if (chdir(directory) != 0) return FromErrno(errno, std::string("entering ") + directory);
  result.private_root = true;
  return result;
}

}  // namespace davinci::sandbox
