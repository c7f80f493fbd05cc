// Work that is done ahead of those who use it, in a thread of its own, by a bounded number of
// steps.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"
#include "davinci/base/status.h"

namespace davinci::training {

// What each step needs (T) is made one step after the other. Step s is begun once step s - 1 -
// `ahead` is done, so ahead = 0 alternates: nothing of a step is made before the one before it is
// done. A failure is the last thing that is made.
//
// make(step, done, await): runs in this object's thread; `done` is the newest step that is done
// then. await(s), for s < step, waits until step s is done; false: what is made will not be used.
template <typename T>
class Ahead {
 public:
  using Await = std::function<bool(int step)>;
  using Make = std::function<Result<T>(int step, int done, const Await& await)>;

  // Steps done + 1 … last.
  Ahead(int done, int last, int ahead, Make make)
      : first_(done + 1), last_(last), ahead_(ahead), make_(std::move(make)), done_(done) {
    thread_ = std::thread([this] { Run(); });
  }
  // Waits for what is being made; its maker must have been told to end.
  ~Ahead() {
    {
      const MutexLock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  struct Next {
    Result<T> made;
    double waited_seconds = 0;  // of the caller, for it
    double held_seconds = 0;    // of its maker, before it might begin
  };
  // Of the next step. Called once a step, and not again after a failure.
  Next Take() {
    const Stopwatch watch;
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) { return !made_.empty(); });
    Next next = std::move(made_.front());
    made_.pop_front();
    next.waited_seconds = watch.Seconds();
    return next;
  }
  void Done(int step) {
    {
      const MutexLock lock(mutex_);
      done_ = step;
    }
    changed_.notify_all();
  }

 private:
  int NewestDone() {
    const MutexLock lock(mutex_);
    return done_;
  }
  void Run() {
    bool failed = false;
    for (int step = first_; step <= last_ && !failed; ++step) {
      double held_seconds = 0;
      const Await await = [&](int other) {
        const Stopwatch held;
        MutexLock lock(mutex_);
        changed_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) { return closed_ || other <= done_; });
        held_seconds += held.Seconds();
        return !closed_;
      };
      if (!await(step - 1 - ahead_)) return;
      Result<T> made = make_(step, NewestDone(), await);
      failed = !made.ok();
      {
        const MutexLock lock(mutex_);
        made_.push_back({std::move(made), 0, held_seconds});
      }
      changed_.notify_all();
    }
  }

  const int first_, last_, ahead_;
  const Make make_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Next> made_ DAVINCI_GUARDED_BY(mutex_);
  int done_ DAVINCI_GUARDED_BY(mutex_);
  bool closed_ DAVINCI_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace davinci::training
