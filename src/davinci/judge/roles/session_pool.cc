#include "davinci/judge/roles/session_pool.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "davinci/base/clock.h"

namespace davinci::judge {
namespace {

constexpr int kMaxUses = 64;
// The wait for processes that are about to come back; new ones take longer.
constexpr auto kWaitForProcesses = std::chrono::milliseconds(500);
constexpr int kTakers = 4;
constexpr double kRestSeconds = 60;
constexpr double kRestWithMemorySeconds = 3;
// The rest while others wait for memory: a task that is described again needs it again, too.
constexpr double kShortRestSeconds = 1;
// The wait for memory after which no session rests that holds some: a task that is always asked
// for must not keep others out.
constexpr double kPatienceSeconds = 8;
constexpr auto kExpireInterval = std::chrono::milliseconds(500);

// `waits`: when those began that are under way.
double MostRest(const std::multiset<double>& waits, double now) {
  return waits.empty() ? MostRestWithMemory({}) : MostRestWithMemory(now - *waits.begin());
}

}  // namespace

double MostRestWithMemory(std::optional<double> waited) {
  if (!waited) return kRestWithMemorySeconds;
  return *waited > kPatienceSeconds ? 0 : kShortRestSeconds;
}

SessionPool::SessionPool(size_t capacity, int per_key) : shelves_(capacity, per_key) {
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

SessionClaim SessionPool::Claim(const std::string& key, const std::string& host, ClaimWait wait) {
  MutexLock lock(mutex_);
  // A session of the key is about to come back, or processes are, and none that would do is here.
  const auto is_worth_waiting = [&]() DAVINCI_REQUIRES(mutex_) {
    if (shelves_.Holds(key)) return false;
    const auto is_its_own = [&](const Returned& one) { return one.key == key; };
    if (taking_back_.contains(key) || std::ranges::any_of(returned_, is_its_own)) return true;
    const bool coming = !returned_.empty() || !taking_back_.empty();
    return !host.empty() && coming && !shelves_.LendsProcesses();
  };
  if (wait == ClaimWait::kNone && is_worth_waiting()) return {};
  if (wait == ClaimWait::kSoon)
    changed_.wait_for(lock, kWaitForProcesses,
                      [&]() DAVINCI_REQUIRES(mutex_) { return !is_worth_waiting(); });
  while (true) {
    SessionClaim claim = shelves_.Claim(key, host);
    if (claim.granted() || wait != ClaimWait::kGranted) return claim;
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
    session->oracle->set_timeout(Session::kLetGoSeconds);
    if (session->oracle->Ask(to_oracle::Rest{}).ok()) {
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
    strip = !session->memory.empty() && MostRest(memory_waits_, MonotonicSeconds()) == 0;
  }
  if (session && strip && !session->Strip()) session.reset();
  std::unique_ptr<Session> ended;  // outside the lock
  MutexLock lock(mutex_);
  if (!returned.only_strip) shelves_.EndUse(returned.key);
  if (session) ended = shelves_.Put(std::move(session), strip);
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
  ended = shelves_.TakeOlderThan(std::numeric_limits<double>::infinity());
}

std::vector<std::unique_ptr<Session>> SessionPool::StripLocked(
    std::vector<std::unique_ptr<Session>> sessions) {
  std::vector<std::unique_ptr<Session>> ended;
  for (auto& session : sessions) {
    if (session->host.empty())
      ended.push_back(std::move(session));
    else
      returned_.push_back({"", std::move(session), PrewarmedRunner(), true});
  }
  changed_.notify_all();
  return ended;
}

void SessionPool::Limit(const std::string& key, int sessions) {
  MutexLock lock(mutex_);
  shelves_.Limit(key, sessions);
}

double SessionPool::BeginMemoryWait() {
  const double begun = MonotonicSeconds();
  {
    MutexLock lock(mutex_);
    memory_waits_.insert(begun);
  }
  Expire();
  return begun;
}

void SessionPool::EndMemoryWait(double begun) {
  MutexLock lock(mutex_);
  memory_waits_.erase(memory_waits_.find(begun));
}

void SessionPool::Expire() {
  std::vector<std::unique_ptr<Session>> ended;
  std::vector<std::unique_ptr<Session>> old;
  const double now = MonotonicSeconds();
  MutexLock lock(mutex_);
  const double most = MostRest(memory_waits_, now);
  ended = StripLocked(shelves_.TakeResting([&](const Session& session) {
    return !session.memory.empty() && now - session.resting_since > most;
  }));
  old = shelves_.TakeOlderThan(now - kRestSeconds);
}

}  // namespace davinci::judge
