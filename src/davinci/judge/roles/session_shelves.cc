#include "davinci/judge/roles/session_shelves.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace davinci::judge {
namespace {

// Sessions that rest before the oldest gives its processes to another task, and stripped ones that
// are kept.
constexpr size_t kKeptForTheirTask = 2;
constexpr size_t kMaxStripped = 8;

}  // namespace

SessionClaim SessionShelves::Claim(const std::string& key, const std::string& host) {
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
  const auto take_from = [&](Shelf* kept) {
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

void SessionShelves::EndUse(const std::string& key) {
  if (--in_use_[key] == 0) in_use_.erase(key);
}

void SessionShelves::Limit(const std::string& key, int sessions) {
  limits_[key] = std::clamp(sessions, 1, per_key_);
}

std::unique_ptr<Session> SessionShelves::Put(std::unique_ptr<Session> session, bool is_stripped) {
  Shelf& kept = is_stripped ? stripped_ : resting_;
  kept.push_back(std::move(session));
  if (kept.size() <= (is_stripped ? kMaxStripped : capacity_)) return nullptr;
  std::unique_ptr<Session> oldest = std::move(kept.front());
  kept.erase(kept.begin());
  return oldest;
}

bool SessionShelves::Holds(const std::string& key) const {
  return std::ranges::any_of(resting_, [&](const auto& session) { return session->key == key; });
}

bool SessionShelves::LendsProcesses() const {
  return !stripped_.empty() || resting_.size() >= kKeptForTheirTask;
}

std::vector<std::unique_ptr<Session>> SessionShelves::TakeResting(
    const std::function<bool(const Session&)>& holds) {
  Shelf taken;
  for (auto& session : resting_)
    if (holds(*session)) taken.push_back(std::move(session));
  std::erase(resting_, nullptr);
  return taken;
}

std::vector<std::unique_ptr<Session>> SessionShelves::TakeOlderThan(double monotonic_seconds) {
  Shelf taken;
  for (Shelf* kept : {&resting_, &stripped_}) {
    for (auto& session : *kept)
      if (session->resting_since < monotonic_seconds) taken.push_back(std::move(session));
    std::erase(*kept, nullptr);
  }
  return taken;
}

}  // namespace davinci::judge
