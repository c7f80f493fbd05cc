// Work that is done ahead of those who use it, in threads of its own, by a bounded number of steps.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"
#include "davinci/base/status.h"

namespace davinci::training {

// What each step needs (T) is made one step after the other. Step s is begun once step s - 1 -
// `ahead` is done, so ahead = 0 alternates: nothing of a step is made before the one before it is
// done. With ahead >= 2 a maker may let the next step begin before its own is made: two are made
// at once. A failure is the last thing that is made.
template <typename T>
class Ahead {
 public:
  // What the maker of a step asks and tells, in its own thread.
  class Others {
   public:
    // For an earlier step: waits until it is done. False: what is made will not be used.
    bool Await(int step) {
      const Stopwatch held;
      const bool used = ahead_->WaitForDone(step);
      held_seconds_ += held.Seconds();
      return used;
    }
    // The next step may begin, unless `ahead` is less than 2.
    void LetNextBegin() {
      {
        const MutexLock lock(ahead_->mutex_);
        ahead_->let_begin_ = std::max(ahead_->let_begin_, step_ + 1);
      }
      ahead_->changed_.notify_all();
    }

   private:
    friend class Ahead;
    Others(Ahead* ahead, int step) : ahead_(ahead), step_(step) {}
    Ahead* const ahead_;
    const int step_;
    double held_seconds_ = 0;
  };
  // `done` is the newest step that is done when make() begins.
  using Make = std::function<Result<T>(int step, int done, Others& others)>;

  // Steps done + 1 … last.
  Ahead(int done, int last, int ahead, Make make)
      : first_(done + 1),
        last_(last),
        ahead_(ahead),
        make_(std::move(make)),
        done_(done),
        made_through_(done),
        next_(done + 1) {
    thread_ = std::thread([this] { Run(); });
  }
  // Waits for what is being made; its makers must have been told to end.
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
    changed_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) { return made_.contains(next_); });
    Next next = std::move(made_.extract(next_++).mapped());
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
  bool WaitForDone(int step) {
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) { return closed_ || step <= done_; });
    return !closed_;
  }
  // Returns whether `step` may begin as far as those before it are made.
  bool WaitForMakers(int step) {
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() DAVINCI_REQUIRES(mutex_) {
      const bool let_begin = ahead_ >= 2 && let_begin_ >= step && made_through_ >= step - 2;
      return closed_ || failed_ || made_through_ >= step - 1 || let_begin;
    });
    return !closed_ && !failed_;
  }
  void MakeStep(int step, Others others) {
    const int newest = [&] {
      const MutexLock lock(mutex_);
      return done_;
    }();
    Result<T> made = make_(step, newest, others);
    {
      const MutexLock lock(mutex_);
      failed_ = failed_ || !made.ok();
      made_.emplace(step, Next{std::move(made), 0, others.held_seconds_});
      while (made_.contains(made_through_ + 1)) ++made_through_;
    }
    changed_.notify_all();
  }
  void Run() {
    std::deque<std::thread> makers;  // of the newest two steps
    for (int step = first_; step <= last_; ++step) {
      Others others(this, step);
      if (!WaitForMakers(step) || !others.Await(step - 1 - ahead_)) break;
      for (; makers.size() >= 2; makers.pop_front()) makers.front().join();
      makers.emplace_back([this, step, others] { MakeStep(step, others); });
    }
    for (std::thread& maker : makers) maker.join();
  }

  const int first_, last_, ahead_;
  const Make make_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int, Next> made_ DAVINCI_GUARDED_BY(mutex_);  // and not taken, by step
  int done_ DAVINCI_GUARDED_BY(mutex_);
  int made_through_ DAVINCI_GUARDED_BY(mutex_);   // all steps up to it are made
  int let_begin_ DAVINCI_GUARDED_BY(mutex_) = 0;  // the newest step that its former one let begin
  int next_ DAVINCI_GUARDED_BY(mutex_);           // that is taken
  bool failed_ DAVINCI_GUARDED_BY(mutex_) = false;
  bool closed_ DAVINCI_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace davinci::training
