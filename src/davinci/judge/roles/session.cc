#include "davinci/judge/roles/session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"

namespace davinci::judge {
namespace {

constexpr int kMaxUses = 64;
constexpr int kMaxTasks = 32;
constexpr double kLetGoSeconds = 10;
// Sessions that rest before the oldest gives its processes to another task, and stripped ones that
// are kept.
constexpr size_t kKeptForTheirTask = 2;
constexpr size_t kMaxStripped = 3;
// The wait for processes that are about to come back; new ones take longer.
constexpr auto kWaitForProcesses = std::chrono::milliseconds(500);
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

bool Session::Strip() {
  if (host.empty() || !ready || spoilt || ++tasks >= kMaxTasks || !Alive()) return false;
  oracle->set_timeout(kLetGoSeconds);
  // The baseline first: what it has mapped is the oracle's.
  if (!baseline.runner->Forget(kLetGoSeconds)) return false;
  const auto forgot = oracle->Ask({{"op", "forget"}});
  if (!forgot.ok() || !forgot->ok.value("clean", false)) return false;
  oracle->Rest();
  memory.clear();
  key.clear();
  arena = OutputArena();
  facts.clear();
  baseline.built_variant = -1;
  baseline.has_buffers = false;
  buffers = nullptr;
  baseline_seconds.reset();
  baseline.outside_cpu_ns.clear();
  ready = baseline_checked = baseline_outside_tolerance = false;
  reference_mutates = reference_hides_changes = false;
  uses = 0;
  return true;
}

SessionPool::SessionPool(size_t capacity, int per_key) : capacity_(capacity), per_key_(per_key) {
  for (int i = 0; i < kTakers; ++i)
    takers_.emplace_back([this](const std::stop_token& stop) {
      MutexLock lock(mutex_);
      while (changed_.wait(lock, stop,
                           [&]() DAVINCI_REQUIRES(mutex_) { return !returned_.empty(); })) {
        Returned returned = std::move(returned_.front());
        returned_.pop_front();
        const auto taken = taking_back_.insert(returned.key);
        lock.unlock();
        TakeBack(std::move(returned));
        lock.lock();
        taking_back_.erase(taken);
        changed_.notify_all();
      }
    });
  reaper_ = std::jthread([this](const std::stop_token& stop) {
    MutexLock lock(mutex_);
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

SessionClaim SessionPool::ClaimLocked(const std::string& key, const std::string& host) {
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
  if (!claim.may_make || host.empty()) return claim;
  const auto take_from = [&](std::vector<std::unique_ptr<Session>>* kept) {
    const auto found = std::find_if(kept->begin(), kept->end(),
                                    [&](const auto& session) { return session->host == host; });
    if (claim.session || found == kept->end()) return;
    claim.session = std::move(*found);
    kept->erase(found);
    if (!claim.session->Alive()) claim.session.reset();
  };
  take_from(&stripped_);
  if (resting_.size() >= kKeptForTheirTask) take_from(&resting_);
  return claim;
}

// A session of the key is about to come back, or processes are, and none that would do is here.
bool SessionPool::IsWorthWaitingLocked(const std::string& key, const std::string& host) const {
  const auto is_its_own = [&](const auto& session) { return session->key == key; };
  if (std::any_of(resting_.begin(), resting_.end(), is_its_own)) return false;
  const auto returns_its_own = [&](const Returned& one) { return one.key == key; };
  if (taking_back_.contains(key) ||
      std::any_of(returned_.begin(), returned_.end(), returns_its_own))
    return true;
  const bool coming = !returned_.empty() || !taking_back_.empty();
  return !host.empty() && coming && stripped_.empty() && resting_.size() < kKeptForTheirTask;
}

SessionClaim SessionPool::TryClaim(const std::string& key, const std::string& host) {
  MutexLock lock(mutex_);
  if (IsWorthWaitingLocked(key, host)) return {};
  return ClaimLocked(key, host);
}

SessionClaim SessionPool::TryClaimSoon(const std::string& key, const std::string& host) {
  MutexLock lock(mutex_);
  changed_.wait_for(lock, kWaitForProcesses,
                    [&]() DAVINCI_REQUIRES(mutex_) { return !IsWorthWaitingLocked(key, host); });
  return ClaimLocked(key, host);
}

SessionClaim SessionPool::Claim(const std::string& key, const std::string& host) {
  MutexLock lock(mutex_);
  while (true) {
    SessionClaim claim = ClaimLocked(key, host);
    if (claim.granted()) return claim;
    changed_.wait(lock);
  }
}

void SessionPool::Return(const std::string& key, std::unique_ptr<Session> session,
                         PrewarmedRunner candidate) {
  MutexLock lock(mutex_);
  returned_.push_back({key, std::move(session), std::move(candidate)});
  changed_.notify_all();
}

void SessionPool::TakeBack(Returned returned) {
  returned.candidate =
      PrewarmedRunner();  // gone before the oracle forgets what it had opened of it
  std::unique_ptr<Session>& session = returned.session;
  if (session && !returned.only_strip &&
      (session->spoilt || !session->ready || ++session->uses >= kMaxUses || !session->Alive()))
    session.reset();
  if (session && !returned.only_strip) {
    // The candidate's arenas and outputs are let go before the next evaluation.
    session->oracle->set_timeout(kLetGoSeconds);
    if (session->oracle->Ask({{"op", "rest"}}).ok()) {
      session->oracle->Rest();
      session->baseline.outside_cpu_ns.clear();
      session->resting_since = MonotonicSeconds();
    } else {
      session.reset();
    }
  }
  bool strip = returned.only_strip;
  if (session && !strip) {
    MutexLock lock(mutex_);
    strip = !session->memory.empty() && memory_waits_ > 0;
  }
  if (session && strip && !session->Strip()) session.reset();
  std::unique_ptr<Session> ended;  // outside the lock
  MutexLock lock(mutex_);
  if (!returned.only_strip && --in_use_[returned.key] == 0) in_use_.erase(returned.key);
  auto& kept = strip ? stripped_ : resting_;
  if (session) kept.push_back(std::move(session));
  if (kept.size() > (strip ? kMaxStripped : capacity_)) {
    ended = std::move(kept.front());
    kept.erase(kept.begin());
  }
  changed_.notify_all();
}

void SessionPool::Settle() {
  MutexLock lock(mutex_);
  while (!returned_.empty() || !taking_back_.empty()) changed_.wait(lock);
}

void SessionPool::Clear() {
  Settle();
  std::vector<std::unique_ptr<Session>> ended;
  MutexLock lock(mutex_);
  ended.swap(resting_);
  for (auto& session : stripped_) ended.push_back(std::move(session));
  stripped_.clear();
}

template <typename Predicate>
std::vector<std::unique_ptr<Session>> SessionPool::StripLocked(const Predicate& holds) {
  std::vector<std::unique_ptr<Session>> ended;
  for (auto& session : resting_) {
    if (!holds(*session)) continue;
    if (session->host.empty())
      ended.push_back(std::move(session));
    else
      returned_.push_back({"", std::move(session), PrewarmedRunner(), true});
  }
  std::erase(resting_, nullptr);
  changed_.notify_all();
  return ended;
}

nlohmann::json SessionPool::BaselineProfile(const std::string& key) {
  MutexLock lock(mutex_);
  const auto found = profiles_.find(key);
  return found == profiles_.end() ? nlohmann::json() : found->second;
}

void SessionPool::KeepBaselineProfile(const std::string& key, const nlohmann::json& profile) {
  MutexLock lock(mutex_);
  if (profiles_.size() >= kMaxProfiles) profiles_.clear();
  profiles_[key] = profile;
}

void SessionPool::Limit(const std::string& key, int sessions) {
  MutexLock lock(mutex_);
  limits_[key] = std::clamp(sessions, 1, per_key_);
}

void SessionPool::EndMemoryWait() {
  MutexLock lock(mutex_);
  --memory_waits_;
}

void SessionPool::BeginMemoryWait() {
  std::vector<std::unique_ptr<Session>> ended;
  MutexLock lock(mutex_);
  ++memory_waits_;
  ended = StripLocked([](const Session& session) { return !session.memory.empty(); });
}

void SessionPool::Expire() {
  std::vector<std::unique_ptr<Session>> ended;
  const double now = MonotonicSeconds();
  MutexLock lock(mutex_);
  ended = StripLocked([&](const Session& session) {
    return !session.memory.empty() && now - session.resting_since > kRestWithMemorySeconds;
  });
  for (auto* kept : {&resting_, &stripped_}) {
    for (auto& session : *kept)
      if (now - session->resting_since > kRestSeconds) ended.push_back(std::move(session));
    std::erase(*kept, nullptr);
  }
}

}  // namespace davinci::judge
