// SlowCalls: forwards that have let go of their device because they last.
//
// A candidate that compiles for half a minute in its first call must not keep others from being
// timed, so a call that lasts gives its share of the device back (gpu/lease.h). A kernel that never
// ends gives it back, too, and goes on computing: whatever is timed meanwhile gets every other time
// slice of the device (H200: a product of 17 us took 165 us). The host cannot
// distinguish the two; the holder of the exclusive lease can: while a kernel runs in another
// context, the turn of a small kernel takes a time slice longer. It then says which calls must end.
//
// One object serves all trials of a process; thread-safe.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"

namespace davinci::judge {

class SlowCall {
 public:
  explicit SlowCall(std::string device) : device_(std::move(device)) {}
  const std::string& device() const { return device_; }
  double seconds() const { return since_.Seconds(); }
  // The holder of the exclusive lease has found the device busy: the candidate is to be stopped.
  bool must_end() const { return must_end_; }

 private:
  friend class SlowCalls;
  const std::string device_;
  const Stopwatch since_;
  std::atomic<bool> must_end_ = false;
};

class SlowCalls {
 public:
  // A call on `device` goes on without its share, until the caller lets go of what is returned.
  std::shared_ptr<const SlowCall> Add(const std::string& device);
  // For how long the slowest of them has been going on; nullopt without any.
  std::optional<double> LongestSeconds(const std::string& device) const;
  // All of at least `seconds` must end.
  void EndThoseOf(const std::string& device, double seconds);

  // The shortest turn of a small kernel ever seen on `device`, `seconds` included.
  double UsualTurn(const std::string& device, double seconds);

 private:
  std::vector<std::shared_ptr<SlowCall>> Present(const std::string& device) const;

  mutable Mutex mutex_;
  mutable std::vector<std::weak_ptr<SlowCall>> calls_ DAVINCI_GUARDED_BY(mutex_);
  std::map<std::string, double> turns_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::judge
