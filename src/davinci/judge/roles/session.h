// Session: one task made ready, so that candidate after candidate can be asked about it. The oracle
// has loaded the reference, the baseline runner is bound and has been checked; what a candidate
// needs beside that is its own runner.
//
// A trial owns its session while it lasts; in between, sessions rest in a SessionPool. A
// session serves a limited number of candidates: weights are the session's secret, and a secret
// that is used for ever is none. Inputs are drawn afresh for every candidate.
//
// On a device the two processes outlive their task: contexts, libraries and first kernels cost far
// more than to forget one reference and to load another. A stripped session is these processes
// alone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/mutex.h"
#include "davinci/base/rng.h"
#include "davinci/gpu/lease.h"
#include "davinci/judge/roles/oracle.h"
#include "davinci/judge/roles/output_arena.h"
#include "davinci/judge/roles/prewarmed_runner.h"
#include "davinci/judge/roles/runner.h"

namespace davinci::judge {

// One role that is timed, with everything the supervisor knows about it.
struct Timed {
  std::string name;  // "candidate" or "baseline", also its arena's
  Side side = Side::kCandidate;
  std::unique_ptr<Runner> runner;
  std::vector<int64_t> outside_cpu_ns;
  int built_variant = -1;
  bool has_buffers = false;  // cuda: those that are filled between timed calls are mapped
};

struct Session {
  std::vector<gpu::DeviceLease> memory;  // released after the processes below are gone
  std::string key;   // what makes two sessions interchangeable; empty once it is stripped
  std::string host;  // what makes their processes interchangeable; empty: theirs serve one task
  TempDir work;      // scratch of oracle and baseline
  std::unique_ptr<Oracle> oracle;
  Timed baseline;
  OutputArena arena;
  std::vector<std::optional<VariantFacts>> facts;  // by variant; 0 is the task's own size
  SecretStream secret{SecretSeed()};               // seeds of weights; never published
  // Seeds of checks and of the weights they see, by name: all candidates of a session are checked
  // on the same secret inputs, whose truth is worked out once. They cannot tell each other.
  std::map<std::string, uint64_t> check_seeds;
  uint64_t CheckSeed(const std::string& name) {
    const auto [found, fresh] = check_seeds.try_emplace(name, 0);
    if (fresh) found->second = secret.Next() >> 1;
    return found->second;
  }
  uint64_t init_seed = 0;
  // Without a device: {"bytes": the task's own size, "shrunk": null or {"set", "own", "bytes"}}.
  nlohmann::json fitted = nlohmann::json::object();
  // cuda: the buffers that runners fill between timed calls, null until they are made.
  nlohmann::json buffers;
  // cuda: device time of a call of the baseline, once measured; plans the next candidate's windows.
  std::optional<double> baseline_seconds;
  bool reference_mutates = false;        // it changes its inputs
  bool reference_hides_changes = false;  // … and does not return all that it changed
  bool ready = false;                    // the reference is loaded and the baseline is bound
  bool baseline_checked = false;         // it answered one correctness call
  bool baseline_outside_tolerance = false;
  bool spoilt = false;  // not to be used again: changed for one candidate, or a role fell ill
  int uses = 0;
  int tasks = 0;             // that its processes have served before this one
  double resting_since = 0;  // monotonic seconds

  // False once a process of it has ended.
  bool Alive();
  // Makes both processes forget the task, and gives back the device's memory. False when one could
  // not, or something of the task is left in it: then the session is of no use any more.
  bool Strip();
};

// What a claim on a session comes to: one that rested, leave to make one, or neither (not from
// Claim). Who got one of the first two owes the pool a Return(). With the leave may come a
// session of another key, to be made of: stripped, or to be stripped first.
struct SessionClaim {
  std::unique_ptr<Session> session;
  bool may_make = false;
  bool granted() const { return session != nullptr || may_make; }
};

// Sessions at rest, and how many are about. A session is needed only while a candidate is checked
// and timed, not while it compiles, so a few serve many trials of one task. Those that hold
// device memory of note leave soon, so that others get it. Thread-safe.
class SessionPool {
 public:
  // `capacity`: how many rest at most; `per_key`: how many of one key are about at most.
  SessionPool(size_t capacity, int per_key);
  ~SessionPool();

  // `host`: whose processes would do for a new session; empty: none. Grants nothing while a session
  // of this key, or processes that would do, are about to come back: TryClaimSoon() waits for them,
  // half a second at most.
  SessionClaim TryClaim(const std::string& key, const std::string& host = "");
  SessionClaim TryClaimSoon(const std::string& key, const std::string& host);
  // Blocks until the claim is granted.
  SessionClaim Claim(const std::string& key, const std::string& host = "");
  // Ends the candidate, then keeps the session for the next one or ends it too: spoilt, dead or
  // used up. Null when none came about. Returns at once; a thread of the pool does it, because the
  // driver takes its time to undo a context.
  void Return(const std::string& key, std::unique_ptr<Session> session, PrewarmedRunner candidate);
  // Waits until everything returned so far has been taken back.
  void Settle();
  // Settles and ends the sessions at rest.
  void Clear();
  // What the baseline of a task launches on the device, null until it is kept. A few
  // hundred tasks are remembered.
  nlohmann::json BaselineProfile(const std::string& key);
  void KeepBaselineProfile(const std::string& key, const nlohmann::json& profile);
  // Around a wait for device memory: resting sessions that hold some are stripped or end, and so do
  // those that are returned meanwhile.
  void BeginMemoryWait();
  void EndMemoryWait();
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
  SessionClaim ClaimLocked(const std::string& key, const std::string& host)
      DAVINCI_REQUIRES(mutex_);
  bool IsWorthWaitingLocked(const std::string& key, const std::string& host) const
      DAVINCI_REQUIRES(mutex_);
  // Of the resting sessions those for which `holds` does: to be stripped by a taker. The rest of
  // them is returned, to be ended outside the lock.
  template <typename Predicate>
  std::vector<std::unique_ptr<Session>> StripLocked(const Predicate& holds)
      DAVINCI_REQUIRES(mutex_);

  const size_t capacity_;
  const int per_key_;
  Mutex mutex_;
  std::condition_variable_any changed_;                                // with mutex_
  std::multiset<std::string> taking_back_ DAVINCI_GUARDED_BY(mutex_);  // keys
  std::deque<Returned> returned_ DAVINCI_GUARDED_BY(mutex_);
  std::map<std::string, int> in_use_ DAVINCI_GUARDED_BY(mutex_);
  std::map<std::string, int> limits_ DAVINCI_GUARDED_BY(mutex_);
  std::map<std::string, nlohmann::json> profiles_ DAVINCI_GUARDED_BY(mutex_);
  int memory_waits_ DAVINCI_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<Session>> resting_ DAVINCI_GUARDED_BY(mutex_);   // the oldest first
  std::vector<std::unique_ptr<Session>> stripped_ DAVINCI_GUARDED_BY(mutex_);  // the oldest first
  std::vector<std::jthread> takers_;
  std::jthread reaper_;  // last: joined first
};

}  // namespace davinci::judge
