// EndpointPool: which endpoint takes the next call. Knows loads, circuit breakers and pauses; knows
// nothing of HTTP. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <string>
#include <vector>

#include "davinci/base/cancel.h"
#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/llm/endpoint_health.h"

namespace davinci::llm {

class EndpointPool {
 public:
  // A place at an endpoint. Without a report the call says nothing about the endpoint's health.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    size_t index() const { return index_; }
    void ReportSuccess();
    void ReportFailure(const std::string& error);
    // The endpoint is busy, not ill, and asked to be left alone for so long.
    void ReportPause(double seconds, const std::string& error);

   private:
    friend class EndpointPool;
    Lease(EndpointPool* pool, size_t index, bool is_trial)
        : pool_(pool), index_(index), is_trial_(is_trial) {}
    EndpointPool* pool_;
    size_t index_;
    bool is_trial_;  // the one call that an open circuit lets through
  };

  EndpointPool(std::vector<std::string> urls, int max_in_flight, BreakerPolicy breaker);

  // The healthy endpoint with the fewest calls in flight (then the fewest calls so far), not
  // `avoid` where there is another. Waits while all are full, paused or open. kUnavailable when a
  // trial call to an open circuit failed meanwhile and nothing is healthy: the waiting call
  // counts that as its own failure, or it would wait for a dead endpoint for ever.
  Result<Lease> Acquire(size_t avoid, double deadline_s, const CancelToken& cancel);

  // Out for good, or in again.
  void SetExcluded(size_t index, bool excluded, const std::string& why);
  std::vector<EndpointHealth> Health() const;

 private:
  struct Endpoint {
    EndpointHealth health;
    int failures_in_row = 0;
    double cool_down_s = 0;  // of the circuit, 0 while it is closed
    double reopens_s = 0;    // when an open circuit lets a trial through
    bool trial_running = false;
    double paused_until_s = 0;
    bool excluded = false;
  };

  bool IsOpen(const Endpoint& endpoint) const { return endpoint.cool_down_s > 0; }

  const int max_in_flight_;
  const BreakerPolicy breaker_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Endpoint> endpoints_ DAVINCI_GUARDED_BY(mutex_);
  int64_t num_failed_trials_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int64_t num_changes_ DAVINCI_GUARDED_BY(mutex_) = 0;
};

}  // namespace davinci::llm
