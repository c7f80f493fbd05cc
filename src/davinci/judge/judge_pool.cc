#include "davinci/judge/judge_pool.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace davinci::judge {
namespace {

// Evaluations that the device of a task may have under way more than the idlest one has.
constexpr int kMoreForOneTask = 1;

}  // namespace

size_t PlaceFor(const std::vector<int>& under_way, size_t home) {
  const auto idlest = std::min_element(under_way.begin(), under_way.end());
  return under_way[home] > *idlest + kMoreForOneTask
             ? static_cast<size_t>(idlest - under_way.begin())
             : home;
}

JudgePool::JudgePool(JudgeOptions options, const std::vector<std::string>& devices)
    : options_(std::move(options)) {
  for (const std::string& device : devices) seats_.push_back({device, nullptr, 0});
  if (seats_.empty()) seats_.push_back({options_.device, nullptr, 0});
}

JudgePool::Seat* JudgePool::Take(const Job& job) {
  std::lock_guard lock(mutex_);
  Seat* seat = seats_.data();
  if (job.target == Target::kCuda) {
    std::vector<int> under_way;
    for (const Seat& one : seats_) under_way.push_back(one.under_way);
    seat =
        &seats_[PlaceFor(under_way, std::hash<std::string>()(job.reference_path) % seats_.size())];
  }
  ++seat->under_way;
  return seat;
}

Result<std::shared_ptr<Judge>> JudgePool::JudgeOf(Seat* seat) {
  std::lock_guard lock(mutex_);
  if (!seat->judge) {
    JudgeOptions options = options_;
    options.device = seat->device;
    DAVINCI_ASSIGN_OR_RETURN(auto created, Judge::Create(options));
    seat->judge = std::move(created);
  }
  return seat->judge;
}

Result<Evaluation> JudgePool::Evaluate(const Job& job) {
  Seat* seat = Take(job);
  auto judge = JudgeOf(seat);
  Result<Evaluation> evaluation =
      judge.ok() ? (*judge)->Evaluate(job) : Result<Evaluation>(judge.status());
  std::lock_guard lock(mutex_);
  --seat->under_way;
  if (judge.ok() && !evaluation.ok() && evaluation.status().code() == StatusCode::kUnavailable &&
      seat->judge == *judge)
    seat->judge.reset();
  return evaluation;
}

void JudgePool::Close() {
  std::lock_guard lock(mutex_);
  for (Seat& seat : seats_) seat.judge.reset();
}

}  // namespace davinci::judge
