// Says on standard error what is awaited while nothing else is said.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"

namespace davinci::app {

// Seconds without a line after which one says what is awaited, and from then on between two.
inline constexpr double kLongestSilenceSeconds = 10;
inline constexpr double kSilenceRepeatSeconds = 30;

// While it lives, a thread of its own calls `say` with the seconds since Spoke() when these are
// over. `say` prints; Spoke() is called for every other line.
class SilenceWatch {
 public:
  explicit SilenceWatch(std::function<void(double silent_seconds)> say,
                        double first_seconds = kLongestSilenceSeconds,
                        double repeat_seconds = kSilenceRepeatSeconds);
  ~SilenceWatch();
  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;

  void Spoke();

 private:
  Mutex mutex_;
  Stopwatch since_ DAVINCI_GUARDED_BY(mutex_);
  double next_seconds_ DAVINCI_GUARDED_BY(mutex_);
  const double first_seconds_;
  std::jthread thread_;
};

}  // namespace davinci::app
