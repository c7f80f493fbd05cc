// Mutexes whose use clang proves (-Wthread-safety; tools/lint.sh thread-safety).
//
//   Mutex mutex_;
//   int count_ DAVINCI_GUARDED_BY(mutex_) = 0;                // read and written under the lock
//   only void AddLocked() DAVINCI_REQUIRES(mutex_);                // callers hold the lock
//   changed_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) { return count_ > 0; });
//
// A condition is a std::condition_variable_any, which waits with a MutexLock. Other compilers see
// plain mutexes.
#pragma once

#include <mutex>

#ifdef __clang__
#define DAVINCI_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define DAVINCI_THREAD_SAFETY(attribute)
#endif
#define DAVINCI_GUARDED_BY(mutex) DAVINCI_THREAD_SAFETY(guarded_by(mutex))
#define DAVINCI_REQUIRES(mutex) DAVINCI_THREAD_SAFETY(requires_capability(mutex))
// A body that is not analysed; a comment there says why it is right.
#define DAVINCI_UNCHECKED_LOCKING DAVINCI_THREAD_SAFETY(no_thread_safety_analysis)

namespace davinci {

class DAVINCI_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  void lock() DAVINCI_THREAD_SAFETY(acquire_capability()) { mutex_.lock(); }
  void unlock() DAVINCI_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds a mutex while it lives; may let go of it and take it again meanwhile.
class DAVINCI_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) DAVINCI_THREAD_SAFETY(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
    held_ = true;
  }
  ~MutexLock() DAVINCI_THREAD_SAFETY(release_capability()) {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() DAVINCI_THREAD_SAFETY(acquire_capability()) {
    mutex_.lock();
    held_ = true;
  }
  void unlock() DAVINCI_THREAD_SAFETY(release_capability()) {
    held_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool held_ = false;
};

}  // namespace davinci
