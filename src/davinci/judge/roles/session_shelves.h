// SessionShelves: sessions at rest, and how many of each key are about. Pure but for asking
// sessions whether they live; not thread-safe, SessionPool holds its lock around it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "davinci/judge/roles/session.h"

namespace davinci::judge {

// A claim on a session comes to this: one that rested, leave to make one, or neither (not from
// Claim). Who got one of the first two owes the pool a Return(). With the leave may come a
// session of another key, to be made of: stripped, or to be stripped first.
struct SessionClaim {
  std::unique_ptr<Session> session;
  bool may_make = false;
  bool granted() const { return session != nullptr || may_make; }
};

class SessionShelves {
 public:
  // `capacity`: how many rest at most; `per_key`: how many of one key are about at most.
  SessionShelves(size_t capacity, int per_key) : capacity_(capacity), per_key_(per_key) {}

  // `host`: whose processes would do for a new session; empty: none.
  SessionClaim Claim(const std::string& key, const std::string& host);
  // One that was claimed is about no more.
  void EndUse(const std::string& key);
  // At most this many sessions of a key from now on.
  void Limit(const std::string& key, int sessions);
  // Returns the oldest where there are too many.
  std::unique_ptr<Session> Put(std::unique_ptr<Session> session, bool is_stripped);
  bool Holds(const std::string& key) const;
  // Are there processes that may serve another task?
  bool LendsProcesses() const;
  // Takes those at rest, not the stripped ones, for which `holds` does.
  std::vector<std::unique_ptr<Session>> TakeResting(
      const std::function<bool(const Session&)>& holds);
  // Takes those that have rested since before `monotonic_seconds`, stripped or not.
  std::vector<std::unique_ptr<Session>> TakeOlderThan(double monotonic_seconds);

 private:
  using Shelf = std::vector<std::unique_ptr<Session>>;  // the oldest first

  const size_t capacity_;
  const int per_key_;
  std::map<std::string, int> in_use_;
  std::map<std::string, int> limits_;
  Shelf resting_;
  Shelf stripped_;
};

}  // namespace davinci::judge
