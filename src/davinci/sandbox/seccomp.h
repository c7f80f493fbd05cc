// seccomp: which system calls a sandboxed process may make.
//
// Two profiles, both "allow except" (CUDA, torch and OpenMP use too many calls, differing by
// version, for a list of what is allowed):
//
//   kLoad    from before the first line of untrusted code. Denies reaching into other processes,
//            mounting and namespaces, kernel interfaces with a large attack surface (bpf, io_uring,
//            userfaultfd, keys, perf), sockets other than AF_UNIX unless the policy allows the
//            network, fork and exec unless the policy allows them, and system calls newer than this
//            file (ENOSYS).
//   kLocked  once everything is loaded: additionally no new process, no exec, no signal to another
//            process.
//
// Denied calls return EPERM (clone3 and unknown calls ENOSYS, so that libraries fall back); those
// without any innocent use (loading kernel modules, rebooting) kill the process with SIGSYS.
//
// Frozen means frozen. The supervisor stops the worker with SIGSTOP, and only SIGCONT (or SIGKILL)
// ends that stop, so both profiles deny every way in which a process could get a SIGCONT by its own
// doing while it is stopped, or cancel the stop while it is on its way (a SIGCONT sent at the right
// moment removes a pending SIGSTOP): sending it (kill, tkill, tgkill, sigqueue), POSIX timers,
// F_SETSIG with asynchronous I/O, leases and directory notification, mq_notify, PR_SET_PDEATHSIG,
// an exit signal of SIGCONT for a child, acquiring a terminal, virtual-terminal signals; and every
// way in which something keeps computing for it meanwhile (io_uring, and under kLocked any second
// process).
//
// The lock cannot be forged. Under kLoad the process may install exactly one further filter: the
// kLocked program that was placed in sealed, immutable memory before untrusted code ran. So the
// number of filters that /proc shows for a thread (ReadSeccompState) proves from outside that the
// lock is on, whatever the process says.
#pragma once

#include <sys/types.h>

#include "davinci/base/status.h"

namespace davinci::sandbox {

struct SeccompOptions {
  bool allow_network = false;
  bool allow_fork = false;
  bool allow_exec = false;
};

// Installs kLoad on the calling thread, which must be the only one and have no_new_privs set. With
// `lockable` the kLocked program is prepared as well; otherwise no further filter can ever be
// installed. Returns whether the prepared lock is immutable (false on kernels before 6.10 where it
// is only read-only, and for !lockable).
Result<bool> EnterSeccompLoad(const SeccompOptions& options, bool lockable);

// Installs kLocked on all threads. Only once, only after EnterSeccompLoad(.., lockable = true) in
// this process.
Status LockSeccomp();

// Seen from outside, for any process the caller may look at in /proc.
struct SeccompState {
  int num_threads = 0;
  int min_filters =
      0;  // over all threads. A process that inherited none has 1 after loading, 2 after locking
  int max_filters = 0;
  bool no_new_privs = false;  // all threads
};
Result<SeccompState> ReadSeccompState(pid_t pid);

}  // namespace davinci::sandbox
