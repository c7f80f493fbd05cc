// SocketWatch: a thread that ends exchanges whose time is up or whose token has fired, by shutting
// their socket down. Serves any number of exchanges at once.
#pragma once

#include <condition_variable>
#include <list>
#include <optional>
#include <thread>

#include "davinci/base/cancel.h"
#include "davinci/base/mutex.h"
#include "davinci/base/unique_fd.h"

namespace davinci::llm {

class SocketWatch {
 public:
  // One exchange under watch, from construction to destruction. Not movable.
  class Watched {
   public:
    Watched(SocketWatch* watch, double deadline_s, CancelToken cancel);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    // The exchange uses this socket from now on. A duplicate is kept, so that a number that has
    // been closed and given out again is never shut down.
    void Use(int fd);
    // Brings the deadline forward.
    void Shorten(double deadline_s);

   private:
    friend class SocketWatch;
    SocketWatch* const watch_;
    double deadline_s_;  // guarded by watch_->mutex_
    const CancelToken cancel_;
    UniqueFd fd_;  // guarded by watch_->mutex_
    std::list<Watched*>::iterator place_;
    std::optional<CancelCallback> on_cancel_;
  };

  SocketWatch();
  ~SocketWatch();

 private:
  void Run();

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::list<Watched*> watched_ DAVINCI_GUARDED_BY(mutex_);
  double next_wake_s_ DAVINCI_GUARDED_BY(mutex_) = 0;  // when the thread will look again by itself
  bool poked_ DAVINCI_GUARDED_BY(mutex_) = false;
  bool closing_ DAVINCI_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace davinci::llm
