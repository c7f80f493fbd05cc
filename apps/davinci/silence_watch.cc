#include "silence_watch.h"

#include <algorithm>
#include <utility>

#include "davinci/base/cancel.h"
#include "davinci/base/mutex.h"

namespace davinci::app {

SilenceWatch::SilenceWatch(std::function<void(double)> say, double first_seconds,
                           double repeat_seconds)
    : next_seconds_(first_seconds), first_seconds_(first_seconds) {
  const double pause = std::clamp(first_seconds / 20, 0.01, 0.5);
  thread_ = std::jthread(
      [this, say = std::move(say), repeat_seconds, pause](const std::stop_token& token) {
        while (SleepUnlessCancelled(pause, token)) {
          double silent = 0;
          {
            MutexLock lock(mutex_);
            silent = since_.Seconds();
            if (silent < next_seconds_) continue;
            next_seconds_ = silent + repeat_seconds;
          }
          say(silent);
        }
      });
}

SilenceWatch::~SilenceWatch() {
  thread_.request_stop();
  thread_.join();
}

void SilenceWatch::Spoke() {
  MutexLock lock(mutex_);
  since_.Restart();
  next_seconds_ = first_seconds_;
}

}  // namespace davinci::app
