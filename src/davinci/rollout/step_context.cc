#include "davinci/rollout/step_context.h"

#include <utility>

namespace davinci::rollout {

void StopFlag::Stop(TrajectoryEnd reason, Status why) {
  {
    MutexLock lock(mutex_);
    if (source_.stop_requested()) return;
    reason_ = reason;
    why_ = std::move(why);
  }
  source_.request_stop();
}

TrajectoryEnd StopFlag::reason() {
  MutexLock lock(mutex_);
  return reason_;
}

void StopFlag::Presume(TrajectoryEnd reason) {
  MutexLock lock(mutex_);
  reason_ = reason;
}

Status StopFlag::why() {
  MutexLock lock(mutex_);
  return why_;
}

}  // namespace davinci::rollout
