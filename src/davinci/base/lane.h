// Lane: a fixed number of places for one kind of work (model calls, judgements), given to the
// most urgent waiter.
//
// How LLM and judge are kept busy at once: every rollout is a thread that asks the lane of the
// models for its generation and the lane of the judge for its judgement, never both together. The
// queues in front of both are bounded by the number of rollouts that the engine admits
// (Lane "rollouts"), so neither side can run away from the other, and because no thread waits for
// one lane while holding a place in the other, they cannot lock each other out.
//
// Order of service: urgency first, then whose group has the fewest places, then `order` (small
// first), then arrival. Work of one group shares what one place alone can use at a time (the
// processes of a task), so that groups are served side by side rather than one after the other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "davinci/base/cancel.h"
#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"
#include "davinci/base/status.h"

namespace davinci {

// What may overtake what. Finishing comes before beginning: a later turn frees a place sooner than
// a new rollout, a verification decides about work that is already paid for, and a judgement that
// a certification waits for is the last step of all.
enum class Urgency {
  kNewWork = 0,    // selections, first turns
  kLaterTurn = 1,  // turn 2 and on
  kSummary = 2,
  kVerification = 3,  // both arms
  kFinal = 4,         // full-protocol judgements of the best, certification
};

struct LaneStats {
  int places = 0;
  int64_t num_served = 0;
  double busy_seconds = 0;     // places occupied, summed over places
  double waiting_seconds = 0;  // summed over those who waited
  double open_seconds = 0;     // since the lane was made
  int64_t longest_queue = 0;
  // Share of the places' time in which they were empty.
  double idle_share() const;
};

class Lane {
 public:
  Lane(std::string name, int places);

  // A place; given back when destroyed. Movable.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    ~Place();
    void Leave();
    double waited_seconds() const { return waited_seconds_; }

   private:
    friend class Lane;
    Place(Lane* lane, std::string group, double waited)
        : lane_(lane), group_(std::move(group)), waited_seconds_(waited) {}
    Lane* lane_ = nullptr;
    std::string group_;
    double waited_seconds_ = 0;
    Stopwatch occupied_;
  };

  // Waits for a place; Cancelled when `cancel` is set before there is one.
  Result<Place> Enter(Urgency urgency, int64_t order, const CancelToken& cancel,
                      const std::string& group = "");

  // Nobody waits, and a place is empty.
  bool HasFreePlace();
  LaneStats stats();
  const std::string& name() const { return name_; }

 private:
  struct Ticket {
    Urgency urgency;
    int64_t order = 0;
    int64_t arrival = 0;
    const std::string* group = nullptr;  // of the waiting thread
  };
  // Returns whom the next free place belongs to.
  const Ticket* Next() const DAVINCI_REQUIRES(mutex_);

  const std::string name_;
  const int places_;
  Stopwatch open_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::set<const Ticket*> waiting_ DAVINCI_GUARDED_BY(mutex_);
  std::map<std::string, int> served_ DAVINCI_GUARDED_BY(mutex_);  // places of each group
  int free_ DAVINCI_GUARDED_BY(mutex_);
  int64_t arrivals_ DAVINCI_GUARDED_BY(mutex_) = 0;
  LaneStats stats_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci
