// SessionPool: sessions at rest between the trials of their tasks, and how many are about. A
// session is needed only while a candidate is checked and timed, not while it compiles, so a few
// serve many trials of one task. Those that hold device memory of note leave soon, so that others
// get it. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/judge/roles/prewarmed_runner.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/roles/session_shelves.h"

namespace davinci::judge {

// A claim waits as long as this says: not at all, half a second at most, until it is granted.
enum class ClaimWait { kNone, kSoon, kGranted };

// Returns for how many seconds a session that holds device memory may rest. `waited` is how many
// seconds the longest wait for such memory has taken so far; it is empty where nobody waits.
double MostRestWithMemory(std::optional<double> waited);

class SessionPool {
 public:
  // `capacity`, `per_key`: of SessionShelves.
  SessionPool(size_t capacity, int per_key);
  ~SessionPool();

  // `host`: whose processes would do for a new session; empty: none. While a session of this key,
  // or processes that would do, are about to come back, kNone is granted nothing, and kSoon waits
  // for them.
  SessionClaim Claim(const std::string& key, const std::string& host, ClaimWait wait);
  // Ends the candidate, then keeps the session for the next one or ends it too: spoilt, dead or
  // used up. Null when none came about. Returns at once; a thread of the pool does it, because the
  // driver takes its time to undo a context.
  void Return(const std::string& key, std::unique_ptr<Session> session, PrewarmedRunner candidate);
  // Waits until everything returned so far has been taken back.
  void Settle();
  // Settles and ends the sessions at rest.
  void Clear();
  // Around a wait for device memory: sessions that hold some rest more shortly, so that they serve
  // the next candidate of their task if it comes at once; after a longer wait they do not rest at
  // all. Then they are stripped or end. Returns what EndMemoryWait takes.
  double BeginMemoryWait();
  void EndMemoryWait(double begun);
  // At most this many sessions of a key from now on, because each holds so much.
  void Limit(const std::string& key, int sessions);

 private:
  struct Returned {
    std::string key;
    std::unique_ptr<Session> session;
    PrewarmedRunner candidate;
    bool only_strip = false;  // it rested
  };
  void TakeBack(Returned returned);
  void Expire();
  // Leaves those to a taker that can be stripped. The others are returned, to be ended outside the
  // lock.
  std::vector<std::unique_ptr<Session>> StripLocked(std::vector<std::unique_ptr<Session>> sessions)
      DAVINCI_REQUIRES(mutex_);

  Mutex mutex_;
  std::condition_variable_any changed_;                                // with mutex_
  std::multiset<std::string> taking_back_ DAVINCI_GUARDED_BY(mutex_);  // keys
  std::deque<Returned> returned_ DAVINCI_GUARDED_BY(mutex_);
  SessionShelves shelves_ DAVINCI_GUARDED_BY(mutex_);
  std::multiset<double> memory_waits_ DAVINCI_GUARDED_BY(mutex_);  // when they began, s
  std::vector<std::jthread> takers_;
  std::jthread reaper_;  // last: joined first
};

}  // namespace davinci::judge
