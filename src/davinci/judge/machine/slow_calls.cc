#include "davinci/judge/machine/slow_calls.h"

#include <algorithm>

#include "davinci/base/mutex.h"

namespace davinci::judge {

std::shared_ptr<const SlowCall> SlowCalls::Add(const std::string& device) {
  auto call = std::make_shared<SlowCall>(device);
  MutexLock lock(mutex_);
  calls_.push_back(call);
  return call;
}

std::vector<std::shared_ptr<SlowCall>> SlowCalls::Present(const std::string& device) const {
  std::vector<std::shared_ptr<SlowCall>> present;
  MutexLock lock(mutex_);
  std::erase_if(calls_, [](const auto& call) { return call.expired(); });
  for (const auto& weak : calls_)
    if (auto call = weak.lock(); call && call->device() == device)
      present.push_back(std::move(call));
  return present;
}

std::optional<double> SlowCalls::LongestSeconds(const std::string& device) const {
  std::optional<double> longest;
  for (const auto& call : Present(device)) longest = std::max(longest.value_or(0), call->seconds());
  return longest;
}

void SlowCalls::EndThoseOf(const std::string& device, double seconds) {
  for (const auto& call : Present(device))
    if (call->seconds() >= seconds) call->must_end_ = true;
}

double SlowCalls::UsualTurn(const std::string& device, double seconds) {
  MutexLock lock(mutex_);
  const auto [at, added] = turns_.try_emplace(device, seconds);
  return at->second = std::min(at->second, seconds);
}

}  // namespace davinci::judge
