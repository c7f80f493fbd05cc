#include "davinci/judge/judge_pool.h"

#include <functional>
#include <utility>

#include "davinci/base/mutex.h"
#include "davinci/base/placement.h"

namespace davinci::judge {
namespace {

// Evaluations that the device of a task may have under way more than the idlest one has.
constexpr int kMoreForOneTask = 1;

}  // namespace

JudgePool::JudgePool(JudgeOptions options, const std::vector<std::string>& devices,
                     std::string identity)
    : options_(std::move(options)), identity_(std::move(identity)) {
  for (const std::string& device : devices) seats_.push_back({device, nullptr, 0});
  if (seats_.empty()) seats_.push_back({options_.device, nullptr, 0});
}

JudgePool::Seat* JudgePool::Take(const EvaluationRequest& request) {
  MutexLock lock(mutex_);
  Seat* seat = seats_.data();
  if (request.target == Target::kCuda) {
    std::vector<int> under_way;
    for (const Seat& one : seats_) under_way.push_back(one.under_way);
    const size_t home = std::hash<std::string>()(request.task->path) % seats_.size();
    seat = &seats_[PlaceFor(under_way, home, kMoreForOneTask)];
    for (Seat& one : seats_)
      if (!request.device.empty() && one.device == request.device) seat = &one;
  }
  ++seat->under_way;
  return seat;
}

Result<std::shared_ptr<Judge>> JudgePool::JudgeOf(Seat* seat) {
  MutexLock lock(mutex_);
  if (!seat->judge) {
    JudgeOptions options = options_;
    options.device = seat->device;
    DAVINCI_ASSIGN_OR_RETURN(auto created, Judge::Create(options));
    seat->judge = std::move(created);
  }
  return seat->judge;
}

Result<Evaluation> JudgePool::Evaluate(const EvaluationRequest& request,
                                       const CancelToken& cancel) {
  if (cancel.stop_requested()) return Cancelled("stopped before the judgement began");
  if (request.afresh) {
    JudgeOptions options = options_;
    if (!request.device.empty()) options.device = request.device;
    DAVINCI_ASSIGN_OR_RETURN(const auto judge, Judge::Create(options));
    return judge->Evaluate(request);
  }
  Seat* seat = Take(request);
  auto judge = JudgeOf(seat);
  Result<Evaluation> evaluation =
      judge.ok() ? (*judge)->Evaluate(request) : Result<Evaluation>(judge.status());
  MutexLock lock(mutex_);
  --seat->under_way;
  if (judge.ok() && !evaluation.ok() && seat->judge == *judge && !(*judge)->Alive())
    seat->judge.reset();
  return evaluation;
}

Result<nlohmann::json> JudgePool::Trace(const std::shared_ptr<const task::Task>& task,
                                        Target target) {
  EvaluationRequest request;
  request.task = task;
  request.target = target;
  Seat* seat = Take(request);
  auto judge = JudgeOf(seat);
  Result<nlohmann::json> traced =
      judge.ok() ? (*judge)->Trace(task, target) : Result<nlohmann::json>(judge.status());
  MutexLock lock(mutex_);
  --seat->under_way;
  return traced;
}

std::vector<std::shared_ptr<Judge>> JudgePool::Started() {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Judge>> judges;
  for (const Seat& seat : seats_)
    if (seat.judge) judges.push_back(seat.judge);
  return judges;
}

void JudgePool::Settle() {
  for (const auto& judge : Started()) judge->Settle();
}

void JudgePool::LetGo() {
  for (const auto& judge : Started()) judge->LetGo();
}

void JudgePool::Close() {
  MutexLock lock(mutex_);
  for (Seat& seat : seats_) seat.judge.reset();
}

}  // namespace davinci::judge
