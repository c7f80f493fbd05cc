#include "davinci/llm/socket_watch.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"

namespace davinci::llm {
namespace {

// A socket that is shut down between socket() and connect() connects all the same; so it is shut
// down again until its exchange ends.
constexpr double kRepeat_s = 0.05;
constexpr double kNoDeadline_s = 1e9;

}  // namespace

SocketWatch::Watched::Watched(SocketWatch* watch, double deadline_s, CancelToken cancel)
    : watch_(watch), deadline_s_(deadline_s), cancel_(std::move(cancel)) {
  bool earlier = false;
  {
    const MutexLock lock(watch_->mutex_);
    place_ = watch_->watched_.insert(watch_->watched_.end(), this);
    earlier = deadline_s_ < watch_->next_wake_s_;
    watch_->poked_ |= earlier;
  }
  if (earlier) watch_->changed_.notify_one();
  on_cancel_.emplace(cancel_, [this] {
    {
      const MutexLock lock(watch_->mutex_);
      watch_->poked_ = true;
    }
    watch_->changed_.notify_one();
  });
}

SocketWatch::Watched::~Watched() {
  on_cancel_.reset();  // waits for a callback that is running; must not hold the lock it takes
  const MutexLock lock(watch_->mutex_);
  watch_->watched_.erase(place_);
}

void SocketWatch::Watched::Use(int fd) {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  const MutexLock lock(watch_->mutex_);
  fd_ = std::move(copy);
  if (cancel_.stop_requested()) ::shutdown(fd_.get(), SHUT_RDWR);
}

void SocketWatch::Watched::Shorten(double deadline_s) {
  {
    const MutexLock lock(watch_->mutex_);
    deadline_s_ = std::min(deadline_s_, deadline_s);
    if (deadline_s_ >= watch_->next_wake_s_) return;
    watch_->poked_ = true;
  }
  watch_->changed_.notify_one();
}

SocketWatch::SocketWatch() : thread_([this] { Run(); }) {}

SocketWatch::~SocketWatch() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void SocketWatch::Run() {
  MutexLock lock(mutex_);
  while (!closing_) {
    const double now_s = MonotonicSeconds();
    double next_s = now_s + kNoDeadline_s;
    for (const Watched* exchange : watched_) {
      if (exchange->cancel_.stop_requested() || exchange->deadline_s_ <= now_s) {
        if (exchange->fd_.valid()) ::shutdown(exchange->fd_.get(), SHUT_RDWR);
        next_s = std::min(next_s, now_s + kRepeat_s);
      } else {
        next_s = std::min(next_s, exchange->deadline_s_);
      }
    }
    next_wake_s_ = next_s;
    poked_ = false;
    // One day at most: no overflow, and no caller waits longer.
    const double wait_s = std::clamp(next_s - now_s, 0.0, 86400.0);
    changed_.wait_for(lock, std::chrono::duration<double>(wait_s),
                      [this]() DAVINCI_REQUIRES(mutex_) { return poked_ || closing_; });
  }
}

}  // namespace davinci::llm
