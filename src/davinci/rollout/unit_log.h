// UnitLog: does a unit of work once in the life of a run.
//
//   DAVINCI_ASSIGN_OR_RETURN(json body, log.Do(id, [&]() -> Result<json> { … }));
//
// A unit that the journal knows is not done again: its body is returned. Otherwise the work is done
// and its result made durable before Do() returns it. When the result cannot be made durable (disk
// full) the log is broken: it stops the run through `on_broken`, and every later Do() of a new unit
// fails with the same Status, so that nothing more is paid for that would be lost.
//
// In a replay nothing is done: a unit that the journal does not know is Cancelled. Thread-safe; no
// two threads may do the same unit.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/rollout/unit_id.h"
#include "davinci/store/run_store.h"

namespace davinci::rollout {

class UnitLog {
 public:
  enum class Mode { kLive, kReplay };

  // `run` is not owned.
  UnitLog(store::RunStore* run, Mode mode, std::function<void(const Status&)> on_broken = nullptr);

  Result<nlohmann::json> Do(const UnitId& id, const std::function<Result<nlohmann::json>()>& work);
  // The body of a finished unit; null when it is not finished (a body is never null).
  Result<nlohmann::json> Find(const UnitId& id);
  // Records what was done elsewhere.
  Status Record(const UnitId& id, nlohmann::json body);
  // The name of a text in the run's content store; "" in a replay, which writes nothing.
  Result<std::string> Keep(std::string_view text);

  bool replaying() const { return mode_ == Mode::kReplay; }
  Status broken();
  store::RunStore& run() { return *run_; }

 private:
  void Break(const Status& why);

  store::RunStore* const run_;
  const Mode mode_;
  const std::function<void(const Status&)> on_broken_;
  Mutex mutex_;
  Status broken_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::rollout
