#include "davinci/judge/batch_order.h"

#include <algorithm>
#include <map>

#include "davinci/base/mutex.h"

namespace davinci::judge {

BatchOrder::BatchOrder(const std::vector<std::string>& tasks) {
  std::map<std::string, size_t> number;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const size_t task = number.try_emplace(tasks[i], left_.size()).first->second;
    if (task == left_.size()) left_.emplace_back();
    left_[task].push_back(i);
    task_of_.push_back(task);
  }
}

std::optional<size_t> BatchOrder::Next(std::optional<size_t> previous) {
  MutexLock lock(mutex_);
  if (left_.empty()) return std::nullopt;
  std::deque<size_t>* from = previous ? &left_[task_of_[*previous]] : nullptr;
  if (from == nullptr || from->empty()) {
    if (begun_ < left_.size())
      from = &left_[begun_++];
    else
      from = &*std::max_element(left_.begin(), left_.end(),
                                [](const auto& a, const auto& b) { return a.size() < b.size(); });
  }
  if (from->empty()) return std::nullopt;
  const size_t question = from->front();
  from->pop_front();
  return question;
}

}  // namespace davinci::judge
