#include "davinci/judge/session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "davinci/base/clock.h"

namespace davinci::judge {
namespace {

constexpr int kMaxUses = 64;
constexpr double kLetGoSeconds = 10;
constexpr int kTakers = 4;
constexpr size_t kMaxProfiles = 256;
constexpr double kRestSeconds = 60;
constexpr double kRestWithMemorySeconds = 3;
constexpr auto kExpireInterval = std::chrono::milliseconds(500);

}  // namespace

bool Session::Alive() {
  return oracle && !oracle->process().WaitForDeath() && baseline.runner &&
         !baseline.runner->process().WaitForDeath();
}

SessionPool::SessionPool(size_t capacity, int per_key) : capacity_(capacity), per_key_(per_key) {
  for (int i = 0; i < kTakers; ++i)
    takers_.emplace_back([this](const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      while (changed_.wait(lock, stop, [&] { return !returned_.empty(); })) {
        Returned returned = std::move(returned_.front());
        returned_.pop_front();
        ++taking_back_;
        lock.unlock();
        TakeBack(std::move(returned));
        lock.lock();
        --taking_back_;
        changed_.notify_all();
      }
    });
  reaper_ = std::jthread([this](const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, stop, kExpireInterval, [&] { return stop.stop_requested(); })) {
      lock.unlock();
      Expire();
      lock.lock();
    }
  });
}

SessionPool::~SessionPool() {
  for (auto& taker : takers_) taker.request_stop();
  reaper_.request_stop();
  changed_.notify_all();
}

SessionClaim SessionPool::ClaimLocked(const std::string& key) {
  SessionClaim claim;
  // The youngest first: its memory is the warmest, and the oldest may expire.
  for (size_t i = resting_.size(); i-- > 0;) {
    if (resting_[i]->key != key) continue;
    claim.session = std::move(resting_[i]);
    resting_.erase(resting_.begin() + static_cast<std::ptrdiff_t>(i));
    if (claim.session->Alive()) break;
    claim.session.reset();
  }
  int& in_use = in_use_[key];
  const auto limit = limits_.find(key);
  claim.may_make = !claim.session && in_use < (limit == limits_.end() ? per_key_ : limit->second);
  if (claim.granted()) ++in_use;
  return claim;
}

SessionClaim SessionPool::TryClaim(const std::string& key) {
  std::lock_guard lock(mutex_);
  return ClaimLocked(key);
}

SessionClaim SessionPool::Claim(const std::string& key) {
  std::unique_lock lock(mutex_);
  while (true) {
    SessionClaim claim = ClaimLocked(key);
    if (claim.granted()) return claim;
    changed_.wait(lock);
  }
}

void SessionPool::Return(const std::string& key, std::unique_ptr<Session> session,
                         Spare candidate) {
  std::lock_guard lock(mutex_);
  returned_.push_back({key, std::move(session), std::move(candidate)});
  changed_.notify_all();
}

void SessionPool::TakeBack(Returned returned) {
  returned.candidate = Spare();  // gone before the oracle forgets what it had opened of it
  std::unique_ptr<Session>& session = returned.session;
  if (session &&
      (session->spoilt || !session->ready || ++session->uses >= kMaxUses || !session->Alive()))
    session.reset();
  if (session) {
    // The candidate's arenas and outputs are let go before anybody else comes.
    session->oracle->set_timeout(kLetGoSeconds);
    if (session->oracle->Ask({{"op", "rest"}}).ok()) {
      session->oracle->Rest();
      session->baseline.outside_cpu_ns.clear();
      session->resting_since = MonotonicSeconds();
    } else {
      session.reset();
    }
  }
  std::unique_ptr<Session> ended;  // outside the lock
  std::lock_guard lock(mutex_);
  if (session && !session->memory.empty() && memory_waits_ > 0) ended = std::move(session);
  if (--in_use_[returned.key] == 0) in_use_.erase(returned.key);
  if (session) resting_.push_back(std::move(session));
  if (resting_.size() > capacity_) {
    ended = std::move(resting_.front());
    resting_.erase(resting_.begin());
  }
  changed_.notify_all();
}

void SessionPool::Settle() {
  std::unique_lock lock(mutex_);
  while (!returned_.empty() || taking_back_ > 0) changed_.wait(lock);
}

void SessionPool::Clear() {
  Settle();
  std::vector<std::unique_ptr<Session>> ended;
  std::lock_guard lock(mutex_);
  ended.swap(resting_);
}

nlohmann::json SessionPool::BaselineProfile(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto found = profiles_.find(key);
  return found == profiles_.end() ? nlohmann::json() : found->second;
}

void SessionPool::KeepBaselineProfile(const std::string& key, const nlohmann::json& profile) {
  std::lock_guard lock(mutex_);
  if (profiles_.size() >= kMaxProfiles) profiles_.clear();
  profiles_[key] = profile;
}

void SessionPool::Limit(const std::string& key, int sessions) {
  std::lock_guard lock(mutex_);
  limits_[key] = std::clamp(sessions, 1, per_key_);
}

void SessionPool::EndMemoryWait() {
  std::lock_guard lock(mutex_);
  --memory_waits_;
}

void SessionPool::BeginMemoryWait() {
  std::vector<std::unique_ptr<Session>> ended;
  std::lock_guard lock(mutex_);
  ++memory_waits_;
  for (auto& session : resting_)
    if (!session->memory.empty()) ended.push_back(std::move(session));
  std::erase(resting_, nullptr);
}

void SessionPool::Expire() {
  std::vector<std::unique_ptr<Session>> ended;
  const double now = MonotonicSeconds();
  std::lock_guard lock(mutex_);
  for (auto& session : resting_)
    if (now - session->resting_since >
        (session->memory.empty() ? kRestSeconds : kRestWithMemorySeconds))
      ended.push_back(std::move(session));
  std::erase(resting_, nullptr);
}

}  // namespace davinci::judge
