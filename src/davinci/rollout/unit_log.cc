#include "davinci/rollout/unit_log.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/mutex.h"

namespace davinci::rollout {

using nlohmann::json;

UnitLog::UnitLog(store::RunStore* run, Mode mode, std::function<void(const Status&)> on_broken)
    : run_(run), mode_(mode), on_broken_(std::move(on_broken)) {}

Result<json> UnitLog::Find(const UnitId& id) {
  DAVINCI_ASSIGN_OR_RETURN(auto unit, run_->Find(id.ToString(), SegmentOf(id)));
  return unit ? std::move(unit->body) : json();
}

Result<json> UnitLog::Do(const UnitId& id, const std::function<Result<json>()>& work) {
  DAVINCI_ASSIGN_OR_RETURN(json known, Find(id));
  if (!known.is_null()) return known;
  if (replaying())
    return Cancelled(fmt::format("the run that is replayed ends before \"{}\"", id.ToString()));
  DAVINCI_RETURN_IF_ERROR(broken());
  DAVINCI_ASSIGN_OR_RETURN(json body, work());
  DAVINCI_RETURN_IF_ERROR(Record(id, body));
  return body;
}

Status UnitLog::Record(const UnitId& id, json body) {
  DAVINCI_RETURN_IF_ERROR(broken());
  const Status recorded =
      run_->Record(id.ToString(), UnitKindName(id.kind), std::move(body), SegmentOf(id));
  if (!recorded.ok()) Break(recorded);
  return recorded;
}

Result<std::string> UnitLog::Keep(std::string_view text) {
  if (replaying()) return std::string();
  DAVINCI_RETURN_IF_ERROR(broken());
  auto name = run_->PutBlob(text);
  if (!name.ok()) Break(name.status());
  return name;
}

Status UnitLog::broken() {
  MutexLock lock(mutex_);
  return broken_;
}

void UnitLog::Break(const Status& why) {
  {
    MutexLock lock(mutex_);
    if (!broken_.ok()) return;
    broken_ = why;
  }
  if (on_broken_) on_broken_(why);
}

}  // namespace davinci::rollout
