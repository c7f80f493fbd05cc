#include "davinci/llm/endpoint_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"

namespace davinci::llm {

EndpointPool::EndpointPool(std::vector<std::string> urls, int max_in_flight, BreakerPolicy breaker)
    : max_in_flight_(max_in_flight), breaker_(breaker) {
  for (std::string& url : urls) endpoints_.emplace_back().health.url = std::move(url);
}

EndpointPool::Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      index_(other.index_),
      is_trial_(other.is_trial_) {}

EndpointPool::Lease::~Lease() {
  if (pool_ == nullptr) return;
  {
    const MutexLock lock(pool_->mutex_);
    Endpoint& endpoint = pool_->endpoints_[index_];
    --endpoint.health.in_flight;
    if (is_trial_) endpoint.trial_running = false;
    ++pool_->num_changes_;
  }
  pool_->changed_.notify_all();
}

void EndpointPool::Lease::ReportSuccess() {
  const MutexLock lock(pool_->mutex_);
  Endpoint& endpoint = pool_->endpoints_[index_];
  endpoint.failures_in_row = 0;
  endpoint.cool_down_s = 0;
  endpoint.health.last_error.clear();
}

void EndpointPool::Lease::ReportFailure(const std::string& error) {
  const MutexLock lock(pool_->mutex_);
  Endpoint& endpoint = pool_->endpoints_[index_];
  const BreakerPolicy& policy = pool_->breaker_;
  ++endpoint.health.num_failures;
  ++endpoint.failures_in_row;
  endpoint.health.last_error = error;
  if (is_trial_) {
    ++pool_->num_failed_trials_;
    endpoint.cool_down_s = std::min(2 * endpoint.cool_down_s, policy.max_cool_down_s);
    endpoint.reopens_s = MonotonicSeconds() + endpoint.cool_down_s;
  } else if (!pool_->IsOpen(endpoint) && endpoint.failures_in_row >= policy.failures_to_open) {
    endpoint.cool_down_s = policy.cool_down_s;
    endpoint.reopens_s = MonotonicSeconds() + endpoint.cool_down_s;
  }
}

void EndpointPool::Lease::ReportPause(double seconds, const std::string& error) {
  const MutexLock lock(pool_->mutex_);
  Endpoint& endpoint = pool_->endpoints_[index_];
  endpoint.paused_until_s = std::max(endpoint.paused_until_s, MonotonicSeconds() + seconds);
  endpoint.health.last_error = error;
  // It answered, so a trial has succeeded.
  if (is_trial_) endpoint.cool_down_s = 0;
}

Result<EndpointPool::Lease> EndpointPool::Acquire(size_t avoid, double deadline_s,
                                                  const CancelToken& cancel) {
  MutexLock lock(mutex_);
  const int64_t trials_before = num_failed_trials_;
  while (true) {
    if (cancel.stop_requested()) return Cancelled("waiting for an endpoint");
    const double now_s = MonotonicSeconds();
    Endpoint* best = nullptr;
    bool any_closed = false, all_excluded = true;
    double wake_s = deadline_s;
    std::string last_error;
    const auto rank = [&](const Endpoint& endpoint) DAVINCI_REQUIRES(mutex_) {
      const auto index = static_cast<size_t>(&endpoint - endpoints_.data());
      return std::tuple(index == avoid, !IsOpen(endpoint), endpoint.health.in_flight,
                        endpoint.health.num_calls);
    };
    for (Endpoint& endpoint : endpoints_) {
      if (!endpoint.health.last_error.empty()) last_error = endpoint.health.last_error;
      if (endpoint.excluded) continue;
      all_excluded = false;
      any_closed |= !IsOpen(endpoint);
      if (endpoint.paused_until_s > now_s) {
        wake_s = std::min(wake_s, endpoint.paused_until_s);
        continue;
      }
      if (IsOpen(endpoint)) {
        if (endpoint.reopens_s > now_s) wake_s = std::min(wake_s, endpoint.reopens_s);
        if (endpoint.reopens_s > now_s || endpoint.trial_running) continue;
      }
      if (endpoint.health.in_flight >= max_in_flight_) continue;
      if (best == nullptr || rank(endpoint) < rank(*best)) best = &endpoint;
    }
    if (best != nullptr) {
      ++best->health.in_flight;
      ++best->health.num_calls;
      const bool is_trial = IsOpen(*best);
      best->trial_running |= is_trial;
      return Lease(this, static_cast<size_t>(best - endpoints_.data()), is_trial);
    }
    if (all_excluded) return NotFound("no endpoint can serve this call: " + last_error);
    if (!any_closed && num_failed_trials_ != trials_before) return Unavailable(last_error);
    if (now_s >= deadline_s)
      return DeadlineExceeded("no endpoint became free in time; " + last_error);
    changed_.wait_for(lock, cancel, std::chrono::duration<double>(std::min(wake_s - now_s, 60.0)),
                      [this, seen = num_changes_]()
                          DAVINCI_REQUIRES(mutex_) { return num_changes_ != seen; });
  }
}

void EndpointPool::SetExcluded(size_t index, bool excluded, const std::string& why) {
  {
    const MutexLock lock(mutex_);
    endpoints_[index].excluded = excluded;
    endpoints_[index].health.last_error = why;
    ++num_changes_;
  }
  changed_.notify_all();
}

std::vector<EndpointHealth> EndpointPool::Health() const {
  const MutexLock lock(mutex_);
  std::vector<EndpointHealth> health;
  for (const Endpoint& endpoint : endpoints_) {
    health.push_back(endpoint.health);
    health.back().usable = !endpoint.excluded && !IsOpen(endpoint);
  }
  return health;
}

}  // namespace davinci::llm
