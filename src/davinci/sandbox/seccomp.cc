#include "davinci/sandbox/seccomp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "davinci/sandbox/file_text.h"

namespace davinci::sandbox {
namespace {

using Program = std::vector<sock_filter>;

// Calls above the newest one this file was written against are unknown territory: ENOSYS. The upper
// end covers what kernels of the next years will number; 512 and up belongs to the x32 ABI, which
// libseccomp refuses as a whole.
constexpr int kFirstUnknownSyscall = 467;  // open_tree_attr, Linux 6.15
constexpr int kLastUnknownSyscall = 511;
constexpr long kMsealSyscall = 462;

constexpr uint64_t kCloneNewTime = 0x00000080;
constexpr uint64_t kCloneNewCgroup = 0x02000000;
constexpr uint64_t kLow32 = 0xffffffff;  // the kernel looks at the low half of an int argument only

// Collects rules; the first failure is kept.
class Rules {
 public:
  Rules() : context_(seccomp_init(SCMP_ACT_ALLOW)) {
    if (context_ == nullptr) {
      status_ = Internal("seccomp_init failed");
      return;
    }
    seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2);  // binary search over the call number
  }
  ~Rules() {
    if (context_ != nullptr) seccomp_release(context_);
  }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  void Add(uint32_t action, int call, std::vector<scmp_arg_cmp> when = {}) {
    if (!status_.ok()) return;
    const int error = seccomp_rule_add_array(context_, action, call,
                                             static_cast<unsigned>(when.size()), when.data());
    // -EDOM and -EFAULT: the call does not exist on this architecture.
    if (error != 0 && error != -EDOM && error != -EFAULT && error != -EEXIST) {
      status_ = FromErrno(-error, "seccomp_rule_add for system call " + std::to_string(call));
    }
  }
  void Deny(int call, std::vector<scmp_arg_cmp> when = {}) {
    Add(SCMP_ACT_ERRNO(EPERM), call, std::move(when));
  }
  void DenyAll(std::initializer_list<int> calls) {
    for (int call : calls) Deny(call);
  }
  // Denied when the int argument `index` equals `value`, whatever its upper half holds.
  void DenyIfInt(int call, unsigned index, uint64_t value) {
    Deny(call, {SCMP_CMP64(index, SCMP_CMP_MASKED_EQ, kLow32, value & kLow32)});
  }
  // Denied when the argument is anything but `value`, upper half included.
  void DenyUnless(int call, unsigned index, uint64_t value) {
    Deny(call, {SCMP_CMP64(index, SCMP_CMP_NE, value)});
  }
  void DenyIfBit(int call, unsigned index, uint64_t bit) {
    Deny(call, {SCMP_CMP64(index, SCMP_CMP_MASKED_EQ, bit, bit)});
  }

  Result<Program> Compile() {
    if (!status_.ok()) return status_;
    const int fd = memfd_create("seccomp", MFD_CLOEXEC);
    if (fd < 0) return FromErrno(errno, "memfd_create");
    Status status;
    Program program;
    if (const int error = seccomp_export_bpf(context_, fd); error != 0) {
      status = FromErrno(-error, "seccomp_export_bpf");
    } else {
      const off_t size = lseek(fd, 0, SEEK_END);
      program.resize(static_cast<size_t>(size) / sizeof(sock_filter));
      if (size <= 0 || pread(fd, program.data(), static_cast<size_t>(size), 0) != size) {
        status = Internal("reading back the seccomp program failed");
      }
    }
    close(fd);
    if (!status.ok()) return status;
    return program;
  }

 private:
  scmp_filter_ctx context_;
  Status status_;
};

void DenySelfWake(Rules* rules) {
  rules->DenyIfInt(SCMP_SYS(kill), 1, SIGCONT);
  rules->DenyIfInt(SCMP_SYS(tkill), 1, SIGCONT);
  rules->DenyIfInt(SCMP_SYS(tgkill), 2, SIGCONT);
  rules->DenyIfInt(SCMP_SYS(rt_sigqueueinfo), 1, SIGCONT);
  rules->DenyIfInt(SCMP_SYS(rt_tgsigqueueinfo), 2, SIGCONT);
  rules->Deny(SCMP_SYS(timer_create));
  rules->Deny(SCMP_SYS(mq_notify));
  for (int command : {F_SETSIG, F_SETOWN, F_SETOWN_EX, F_NOTIFY, F_SETLEASE}) {
    rules->DenyIfInt(SCMP_SYS(fcntl), 1, static_cast<uint64_t>(command));
  }
  constexpr uint64_t kFiosetown = 0x8901, kSiocspgrp = 0x8902, kVtSetmode = 0x5602,
                     kKdsigaccept = 0x4B4E;
  for (uint64_t request : {kFiosetown, kSiocspgrp, kVtSetmode, kKdsigaccept, uint64_t{TIOCSTI},
                           uint64_t{TIOCSCTTY}, uint64_t{TIOCSIG}, uint64_t{TIOCSPGRP}}) {
    rules->DenyIfInt(SCMP_SYS(ioctl), 1, request);
  }
  rules->DenyIfInt(SCMP_SYS(prctl), 0, PR_SET_PDEATHSIG);
  rules->Deny(SCMP_SYS(clone), {SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, 0xff, SIGCONT)});
}

void DenyReachingOtherProcesses(Rules* rules) {
  rules->DenyAll({SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
                  SCMP_SYS(process_madvise), SCMP_SYS(process_mrelease), SCMP_SYS(kcmp),
                  SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal),
                  SCMP_SYS(migrate_pages)});
  // The supervisor reads the memory of the stopped worker; nothing may make it unreadable.
  rules->Deny(SCMP_SYS(memfd_secret));
  rules->DenyIfInt(SCMP_SYS(prctl), 0, PR_SET_DUMPABLE);
  rules->DenyIfInt(SCMP_SYS(prctl), 0, PR_SET_PTRACER);
  rules->DenyIfInt(SCMP_SYS(prctl), 0, PR_SET_MM);
}

void DenyKernelInterfaces(Rules* rules) {
  rules->DenyAll({SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd),
                  SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
                  SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
                  SCMP_SYS(fanotify_init), SCMP_SYS(lookup_dcookie), SCMP_SYS(syslog),
                  SCMP_SYS(modify_ldt), SCMP_SYS(uselib), SCMP_SYS(vhangup)});
  // Mounts, roots and namespaces.
  rules->DenyAll({SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(umount), SCMP_SYS(pivot_root),
                  SCMP_SYS(chroot), SCMP_SYS(open_tree), SCMP_SYS(move_mount), SCMP_SYS(fsopen),
                  SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr),
                  SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(open_by_handle_at),
                  SCMP_SYS(name_to_handle_at)});
  for (uint64_t flag : {uint64_t{CLONE_NEWNS}, uint64_t{CLONE_NEWUTS}, uint64_t{CLONE_NEWIPC},
                        uint64_t{CLONE_NEWUSER}, uint64_t{CLONE_NEWPID}, uint64_t{CLONE_NEWNET},
                        kCloneNewCgroup, uint64_t{CLONE_PARENT}, uint64_t{CLONE_PTRACE}}) {
    rules->DenyIfBit(SCMP_SYS(clone), 0, flag);
  }
  // Its flags are in memory, where a filter cannot look; C libraries fall back to clone.
  rules->Add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  // Administration.
  rules->DenyAll({SCMP_SYS(acct), SCMP_SYS(quotactl), SCMP_SYS(quotactl_fd), SCMP_SYS(settimeofday),
                  SCMP_SYS(stime), SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime),
                  SCMP_SYS(adjtimex), SCMP_SYS(sethostname), SCMP_SYS(setdomainname)});
  for (int call : {SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(init_module),
                   SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(reboot),
                   SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(iopl), SCMP_SYS(ioperm)}) {
    rules->Add(SCMP_ACT_KILL_PROCESS, call);
  }
  // personality: only the query; read-implies-exec and no-randomisation weaken the process.
  rules->DenyUnless(SCMP_SYS(personality), 0, 0xffffffff);
  for (int call = kFirstUnknownSyscall; call <= kLastUnknownSyscall; ++call) {
    rules->Add(SCMP_ACT_ERRNO(ENOSYS), call);
  }
}

void DenyFork(Rules* rules) {
  rules->Deny(SCMP_SYS(fork));
  rules->Deny(SCMP_SYS(vfork));
  rules->Deny(SCMP_SYS(clone), {SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)});
}

void DenyExec(Rules* rules) {
  rules->Deny(SCMP_SYS(execve));
  rules->Deny(SCMP_SYS(execveat));
}

// A timer works on while its process is stopped, in interrupts on the cores of others; and reading
// one that was set earlier sets it again.
void DenyTimers(Rules* rules) {
  rules->DenyAll({SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime), SCMP_SYS(setitimer)});
}

// No limit covers memory that no process has mapped.
void DenyUnmappedMemory(Rules* rules) {
  rules->DenyAll({SCMP_SYS(memfd_create), SCMP_SYS(shmget)});
}

// `lock_program` is the only address from which a further filter may be installed; 0 = none at all.
Result<Program> BuildLoad(const SeccompOptions& options, uint64_t lock_program) {
  Rules rules;
  DenySelfWake(&rules);
  DenyReachingOtherProcesses(&rules);
  DenyKernelInterfaces(&rules);
  if (!options.allow_network) rules.DenyUnless(SCMP_SYS(socket), 0, AF_UNIX);
  if (!options.allow_fork) DenyFork(&rules);
  if (!options.allow_exec) {
    DenyExec(&rules);
    // Who starts programs uses a device, whose libraries may need these.
    DenyTimers(&rules);
    DenyUnmappedMemory(&rules);
  }
  rules.DenyIfInt(SCMP_SYS(prctl), 0, PR_SET_SECCOMP);
  if (lock_program == 0) {
    rules.Deny(SCMP_SYS(seccomp));
  } else {
    rules.DenyUnless(SCMP_SYS(seccomp), 0, SECCOMP_SET_MODE_FILTER);
    rules.DenyUnless(SCMP_SYS(seccomp), 1, SECCOMP_FILTER_FLAG_TSYNC);
    rules.DenyUnless(SCMP_SYS(seccomp), 2, lock_program);
  }
  return rules.Compile();
}

Result<Program> BuildLocked(pid_t self) {
  Rules rules;
  DenyFork(&rules);
  DenyExec(&rules);
  rules.Deny(SCMP_SYS(seccomp));
  const uint64_t pid = static_cast<uint64_t>(self);
  for (int call :
       {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo)}) {
    rules.DenyUnless(call, 0, pid);
  }
  rules.DenyAll({SCMP_SYS(tkill), SCMP_SYS(setsid), SCMP_SYS(setpgid)});
  return rules.Compile();
}

Status Install(const sock_fprog* program, unsigned flags) {
  const long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
  if (result == 0) return Status::Ok();
  if (result > 0)
    return Internal("seccomp: thread " + std::to_string(result) + " could not be confined");
  return FromErrno(errno, "seccomp");
}

// The prepared kLocked program of this process: [sock_fprog][instructions] in one immutable
// mapping.
const sock_fprog* g_lock_program = nullptr;

struct PreparedLock {
  const sock_fprog* program;
  bool sealed;
};

Result<PreparedLock> PrepareLock(const Program& instructions) {
  const size_t program_bytes = instructions.size() * sizeof(sock_filter);
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = (sizeof(sock_fprog) + program_bytes + page - 1) / page * page;
  // A shared mapping of a write-sealed memfd: not even /proc/self/mem writes to it. mseal then pins
  // the mapping itself, so that nothing else can be put at its address.
  const int fd = memfd_create("lock", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return FromErrno(errno, "memfd_create");
  Status status;
  void* address = MAP_FAILED;
  do {
    if (ftruncate(fd, static_cast<off_t>(size)) != 0) {
      status = FromErrno(errno, "ftruncate");
      break;
    }
    // Reserve the address first: the program header has to name it.
    address = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
      status = FromErrno(errno, "mmap");
      break;
    }
    sock_fprog header = {};
    header.len = static_cast<unsigned short>(instructions.size());
    header.filter = reinterpret_cast<sock_filter*>(static_cast<char*>(address) + sizeof(header));
    if (pwrite(fd, &header, sizeof(header), 0) != static_cast<ssize_t>(sizeof(header)) ||
        pwrite(fd, instructions.data(), program_bytes, sizeof(header)) !=
            static_cast<ssize_t>(program_bytes)) {
      status = FromErrno(errno, "writing the lock program");
      break;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
      status = FromErrno(errno, "sealing the lock program");
      break;
    }
    if (mmap(address, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) != address) {
      status = FromErrno(errno, "mapping the lock program");
      break;
    }
  } while (false);
  close(fd);
  if (!status.ok()) return status;
  PreparedLock lock = {static_cast<const sock_fprog*>(address), false};
  lock.sealed = syscall(kMsealSyscall, address, size, 0) == 0;
  return lock;
}

}  // namespace

Result<bool> EnterSeccompLoad(const SeccompOptions& options, bool lockable) {
  PreparedLock lock = {nullptr, false};
  if (lockable) {
    DAVINCI_ASSIGN_OR_RETURN(const Program locked, BuildLocked(getpid()));
    DAVINCI_ASSIGN_OR_RETURN(lock, PrepareLock(locked));
  }
  DAVINCI_ASSIGN_OR_RETURN(Program load,
                           BuildLoad(options, reinterpret_cast<uint64_t>(lock.program)));
  const sock_fprog program = {static_cast<unsigned short>(load.size()), load.data()};
  DAVINCI_RETURN_IF_ERROR(Install(&program, SECCOMP_FILTER_FLAG_TSYNC));
  g_lock_program = lock.program;
  return lock.sealed;
}

Status LockSeccomp() {
  if (g_lock_program == nullptr) {
    return FailedPrecondition(
        "locking needs a sandbox entered in this process beforehand, and happens once");
  }
  DAVINCI_RETURN_IF_ERROR(Install(g_lock_program, SECCOMP_FILTER_FLAG_TSYNC));
  g_lock_program = nullptr;
  return Status::Ok();
}

Result<SeccompState> ReadSeccompState(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid) + "/task";
  DIR* tasks = opendir(directory.c_str());
  if (tasks == nullptr) return FromErrno(errno, directory);
  SeccompState state;
  state.no_new_privs = true;
  while (const dirent* entry = readdir(tasks)) {  // NOLINT(concurrency-mt-unsafe): own DIR
    if (entry->d_name[0] == '.') continue;
    const std::string text = ReadSmallFile(directory + "/" + entry->d_name + "/status");
    if (text.empty()) continue;  // the thread has just ended
    // Kernels before 5.9 do not count; then only "some filter" can be seen.
    int filters = 0;
    if (!FindNumber(text, "\nSeccomp_filters:", &filters)) {
      int mode = 0;
      FindNumber(text, "\nSeccomp:", &mode);
      filters = mode == 2 ? 1 : 0;
    }
    int no_new_privs = 0;
    FindNumber(text, "\nNoNewPrivs:", &no_new_privs);
    state.no_new_privs = state.no_new_privs && no_new_privs == 1;
    state.min_filters = state.num_threads == 0 ? filters : std::min(state.min_filters, filters);
    state.max_filters = std::max(state.max_filters, filters);
    ++state.num_threads;
  }
  closedir(tasks);
  if (state.num_threads == 0) return NotFound(directory + ": the process has ended");
  return state;
}

}  // namespace davinci::sandbox
