#include "davinci/base/file_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace davinci {

Result<bool> TryLockFile(int fd, double patience_s) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_s);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return FromErrno(errno, "locking");
    if (std::chrono::steady_clock::now() >= give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace davinci
