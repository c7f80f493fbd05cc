// The class MemoryLimit ends a child that holds more memory than it may.
//
// The child's owner and a watchdog share it; the child itself belongs to its owner alone, so that
// an owner who lets go of a child has ended it, even while the watchdog looks at its memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "davinci/base/mutex.h"

namespace davinci::worker {

class MemoryLimit {
 public:
  // Sets the resident bytes that a child may hold; 0 = unlimited. Any thread may call it.
  void Set(int64_t bytes) { bytes_ = bytes; }
  // The child was ended because it held more.
  bool exceeded() const { return exceeded_; }

  // The owner says that the child lives, as `pid` and `pidfd`, until End(). Nothing is sent to it
  // after that.
  void Begin(pid_t pid, int pidfd);
  void End();

  // The watchdog calls it: it ends the child where it exceeds the limit.
  void Check();

 private:
  std::atomic<int64_t> bytes_{0};
  std::atomic<bool> exceeded_{false};
  Mutex mutex_;
  pid_t pid_ DAVINCI_GUARDED_BY(mutex_) = -1;  // -1: no child
  int pidfd_ DAVINCI_GUARDED_BY(mutex_) = -1;
};

// Returns the resident bytes of a process, from /proc; 0 where there is none.
int64_t ResidentBytesOf(pid_t pid);

}  // namespace davinci::worker
