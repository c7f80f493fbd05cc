#include "davinci/base/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "davinci/base/mutex.h"

namespace davinci {

double LaneStats::idle_share() const {
  const double available = places * open_seconds;
  return available > 0 ? std::max(0.0, 1 - busy_seconds / available) : 0;
}

Lane::Lane(std::string name, int places)
    : name_(std::move(name)), places_(std::max(1, places)), free_(places_) {
  stats_.places = places_;
}

Lane::Place::Place(Place&& other) noexcept
    : lane_(std::exchange(other.lane_, nullptr)),
      group_(std::move(other.group_)),
      waited_seconds_(other.waited_seconds_),
      occupied_(other.occupied_) {}

Lane::Place& Lane::Place::operator=(Place&& other) noexcept {
  if (this != &other) {
    Leave();
    lane_ = std::exchange(other.lane_, nullptr);
    group_ = std::move(other.group_);
    waited_seconds_ = other.waited_seconds_;
    occupied_ = other.occupied_;
  }
  return *this;
}

Lane::Place::~Place() { Leave(); }

void Lane::Place::Leave() {
  Lane* lane = std::exchange(lane_, nullptr);
  if (lane == nullptr) return;
  {
    MutexLock lock(lane->mutex_);
    ++lane->free_;
    if (--lane->served_[group_] == 0) lane->served_.erase(group_);
    lane->stats_.busy_seconds += occupied_.Seconds();
  }
  lane->changed_.notify_all();
}

const Lane::Ticket* Lane::Next() const {
  const auto rank = [&](const Ticket& ticket) DAVINCI_REQUIRES(mutex_) {
    const auto places = served_.find(*ticket.group);
    return std::tuple(-static_cast<int>(ticket.urgency),
                      places != served_.end() ? places->second : 0, ticket.order, ticket.arrival);
  };
  const auto next = std::ranges::min_element(
      waiting_, {}, [&](const Ticket* ticket) DAVINCI_REQUIRES(mutex_) { return rank(*ticket); });
  return next != waiting_.end() ? *next : nullptr;
}

Result<Lane::Place> Lane::Enter(Urgency urgency, int64_t order, const CancelToken& cancel,
                                const std::string& group) {
  const Stopwatch waiting;
  MutexLock lock(mutex_);
  const Ticket ticket{urgency, order, arrivals_++, &group};
  waiting_.insert(&ticket);
  stats_.longest_queue =
      std::max(stats_.longest_queue, static_cast<int64_t>(waiting_.size()) - free_);
  const bool mine = changed_.wait(
      lock, cancel, [&]() DAVINCI_REQUIRES(mutex_) { return free_ > 0 && Next() == &ticket; });
  waiting_.erase(&ticket);
  stats_.waiting_seconds += waiting.Seconds();
  if (!mine || cancel.stop_requested()) {
    lock.unlock();
    changed_.notify_all();  // the next in the queue may be the first now
    return Cancelled(fmt::format("stopped while waiting for a free place: {}", name_));
  }
  --free_;
  ++served_[group];
  ++stats_.num_served;
  lock.unlock();
  changed_.notify_all();  // there may be a second free place
  return Place(this, group, waiting.Seconds());
}

bool Lane::HasFreePlace() {
  const MutexLock lock(mutex_);
  return waiting_.empty() && free_ > 0;
}

LaneStats Lane::stats() {
  MutexLock lock(mutex_);
  LaneStats stats = stats_;
  stats.open_seconds = open_.Seconds();
  return stats;
}

}  // namespace davinci
