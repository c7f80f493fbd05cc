// Cancellation. The side that may give up holds a CancelSource; the worker holds its CancelToken,
// polls token.stop_requested() and returns kCancelled. A default-made token never cancels.
// std::stop_token already is all of this; the names say what it is for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <stop_token>

#include "davinci/base/mutex.h"

namespace davinci {

using CancelToken = std::stop_token;
using CancelSource = std::stop_source;
using CancelCallback = std::stop_callback<std::function<void()>>;

// Sleeps for `seconds`, or until `cancel` fires. True when the whole time has passed.
inline bool SleepUnlessCancelled(double seconds, const CancelToken& cancel) {
  Mutex mutex;
  std::condition_variable_any wake;
  MutexLock lock(mutex);
  wake.wait_for(lock, cancel, std::chrono::duration<double>(seconds), [] { return false; });
  return !cancel.stop_requested();
}

}  // namespace davinci
