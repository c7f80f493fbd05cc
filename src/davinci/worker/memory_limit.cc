#include "davinci/worker/memory_limit.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

namespace davinci::worker {

void MemoryLimit::Begin(pid_t pid, int pidfd) {
  const MutexLock lock(mutex_);
  pid_ = pid;
  pidfd_ = pidfd;
}

void MemoryLimit::End() {
  const MutexLock lock(mutex_);
  pid_ = pidfd_ = -1;
}

void MemoryLimit::Check() {
  const int64_t limit = bytes_;
  const MutexLock lock(mutex_);
  if (limit <= 0 || pid_ <= 0 || ResidentBytesOf(pid_) <= limit) return;
  exceeded_ = true;
  syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, 0);
}

int64_t ResidentBytesOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  int64_t total = 0;
  int64_t resident = 0;  // pages
  return file >> total >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace davinci::worker
