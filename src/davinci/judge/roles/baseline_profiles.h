// BaselineProfiles: what the baseline of a task launches on the device, by session key. A few
// hundred tasks are remembered. Thread-safe.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/mutex.h"

namespace davinci::judge {

class BaselineProfiles {
 public:
  // Null until it is kept.
  nlohmann::json Of(const std::string& key) {
    MutexLock lock(mutex_);
    const auto found = profiles_.find(key);
    return found == profiles_.end() ? nlohmann::json() : found->second;
  }
  void Keep(const std::string& key, const nlohmann::json& profile) {
    MutexLock lock(mutex_);
    if (profiles_.size() >= kMostProfiles) profiles_.clear();
    profiles_[key] = profile;
  }

 private:
  static constexpr size_t kMostProfiles = 256;
  Mutex mutex_;
  std::map<std::string, nlohmann::json> profiles_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::judge
