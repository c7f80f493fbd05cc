// Makes the one call named by argv[1]; exit 0 if it works, else the errno. Most need nothing but a
// kernel, so that the control outside the sandbox shows that the denial is the sandbox's.
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <string>

namespace {

int Outcome(long result) { return result < 0 ? errno : 0; }

// A sibling that lives until killed.
pid_t Sleeper() {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  return pid;
}

int WithSleeper(int (*attack)(pid_t)) {
  const pid_t pid = Sleeper();
  const int outcome = attack(pid);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return outcome;
}

char g_word[8] = "word";

const std::map<std::string, int (*)()>& Calls() {
  static const std::map<std::string, int (*)()> calls = {
      {"nothing", [] { return 0; }},
      // Network.
      {"socket_inet", [] { return Outcome(socket(AF_INET, SOCK_STREAM, 0)); }},
      {"socket_inet6_dirty_high_bits",
       [] { return Outcome(syscall(SYS_socket, AF_INET6 | (1L << 40), SOCK_STREAM, 0)); }},
      {"socket_netlink", [] { return Outcome(socket(AF_NETLINK, SOCK_RAW, 0)); }},
      {"socket_unix", [] { return Outcome(socket(AF_UNIX, SOCK_STREAM, 0)); }},
      // Other processes.
      {"ptrace_sibling",
       [] {
         return WithSleeper([](pid_t pid) { return Outcome(ptrace(PTRACE_SEIZE, pid, 0, 0)); });
       }},
      {"read_sibling_memory",
       [] {
         return WithSleeper([](pid_t pid) {
           char copy[8];
           iovec local = {copy, sizeof(copy)}, remote = {g_word, sizeof(g_word)};
           return Outcome(process_vm_readv(pid, &local, 1, &remote, 1, 0));
         });
       }},
      {"write_sibling_memory",
       [] {
         return WithSleeper([](pid_t pid) {
           iovec local = {g_word, sizeof(g_word)};
           return Outcome(process_vm_writev(pid, &local, 1, &local, 1, 0));
         });
       }},
      {"pidfd_open", [] { return Outcome(syscall(SYS_pidfd_open, getpid(), 0)); }},
      {"kill_own_child",
       [] { return WithSleeper([](pid_t pid) { return Outcome(kill(pid, SIGTERM)); }); }},
      // Waking from a stop.
      {"timer_create",
       [] {
         sigevent event = {};
         event.sigev_notify = SIGEV_SIGNAL;
         event.sigev_signo = SIGCONT;
         timer_t timer;
         return Outcome(timer_create(CLOCK_MONOTONIC, &event, &timer));
       }},
      {"fcntl_setsig", [] { return Outcome(fcntl(0, F_SETSIG, SIGCONT)); }},
      {"fcntl_setsig_dirty_high_bits",
       [] { return Outcome(syscall(SYS_fcntl, 0, F_SETSIG | (1L << 33), SIGCONT)); }},
      {"fcntl_setown", [] { return Outcome(fcntl(0, F_SETOWN, getpid())); }},
      {"fcntl_notify", [] { return Outcome(fcntl(open(".", O_RDONLY), F_NOTIFY, DN_CREATE)); }},
      {"ioctl_fiosetown",
       [] {
         int fds[2];
         if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) return errno;
         pid_t self = getpid();
         return Outcome(ioctl(fds[0], 0x8901 /* FIOSETOWN */, &self));
       }},
      {"kill_sigcont", [] { return Outcome(kill(getpid(), SIGCONT)); }},
      {"kill_sigcont_dirty_high_bits",
       [] { return Outcome(syscall(SYS_kill, getpid(), SIGCONT | (1L << 35))); }},
      {"tgkill_sigcont", [] { return Outcome(syscall(SYS_tgkill, getpid(), gettid(), SIGCONT)); }},
      {"sigqueue_sigcont", [] { return Outcome(sigqueue(getpid(), SIGCONT, {})); }},
      {"child_exit_signal_sigcont",
       [] {
         const long pid = syscall(SYS_clone, SIGCONT, 0, 0, 0, 0);
         if (pid == 0) _exit(0);
         return Outcome(pid);
       }},
      {"pdeathsig", [] { return Outcome(prctl(PR_SET_PDEATHSIG, SIGCONT)); }},
      {"not_dumpable", [] { return Outcome(prctl(PR_SET_DUMPABLE, 0)); }},
      {"mq_notify",
       [] {
         const mqd_t queue = mq_open("/davinci_victim", O_RDWR | O_CREAT, 0600, nullptr);
         sigevent event = {};
         event.sigev_notify = SIGEV_SIGNAL;
         event.sigev_signo = SIGCONT;
         const int outcome = Outcome(mq_notify(queue, &event));
         mq_unlink("/davinci_victim");
         return outcome;
       }},
      // The kernel.
      {"io_uring",
       [] {
         char params[120] = {};
         return Outcome(syscall(SYS_io_uring_setup, 1, params));
       }},
      {"userfaultfd", [] { return Outcome(syscall(SYS_userfaultfd, 1 /* user mode only */)); }},
      {"keyctl", [] { return Outcome(syscall(SYS_keyctl, 0 /* get id */, -3 /* session */, 0)); }},
      {"unshare_user", [] { return Outcome(unshare(CLONE_NEWUSER)); }},
      {"clone_user",
       [] {
         const long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
         if (pid == 0) _exit(0);
         return Outcome(pid);
       }},
      {"clone3",
       [] {
         struct {
           unsigned long flags, pidfd, child_tid, parent_tid, exit_signal, rest[6];
         } args = {};
         args.exit_signal = SIGCHLD;
         const long pid = syscall(SYS_clone3, &args, sizeof(args));
         if (pid == 0) _exit(0);
         return Outcome(pid);
       }},
      {"memfd_secret", [] { return Outcome(syscall(447, 0)); }},
      {"personality_no_randomisation", [] { return Outcome(personality(ADDR_NO_RANDOMIZE)); }},
      {"name_to_handle",
       [] {
         struct {
           unsigned bytes;
           int type;
           char handle[128];
         } handle = {128, 0, {}};
         int mount_id = 0;
         return Outcome(syscall(SYS_name_to_handle_at, AT_FDCWD, ".", &handle, &mount_id, 0));
       }},
      {"own_seccomp_filter",
       [] { return Outcome(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, "\0\0\0\0")); }},
      {"own_memory_through_proc", [] { return Outcome(open("/proc/self/mem", O_RDWR)); }},
      // Honest things that must go on working.
      {"fork",
       [] {
         const pid_t pid = fork();
         if (pid == 0) _exit(0);
         return pid < 0 ? errno : Outcome(waitpid(pid, nullptr, 0));
       }},
      {"setitimer_usable", [] { return Outcome(alarm(1000) == 0 ? 0 : -1); }},
      {"memfd", [] { return Outcome(memfd_create("x", 0)); }},
      {"kill_self_harmless", [] { return Outcome(kill(getpid(), SIGWINCH)); }},
  };
  return calls;
}

}  // namespace

int main(int argc, char** argv) {
  const auto it = Calls().find(argc > 1 ? argv[1] : "");
  if (it == Calls().end()) {
    fprintf(stderr, "unknown call\n");
    return 254;
  }
  return it->second();
}
