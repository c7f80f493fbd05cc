// BatchOrder: who of several workers judges which question next, so that candidates of one task
// follow one another. What a session has worked out for the task (its description, what is right on
// secret inputs, the baseline's first calls) then serves each of them; several at once would each
// make a session of their own.
//
// A worker takes the remaining questions of its task, then those of the first task that no worker
// has begun, and when all are begun, a question of the task with the most left.
//
// Threads: any number may ask.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/mutex.h"

namespace davinci::judge {

class BatchOrder {
 public:
  // `tasks`: of each question, what its task is called.
  explicit BatchOrder(const std::vector<std::string>& tasks);

  // The next question, by position; none once each was given out. `previous`: the worker's last.
  std::optional<size_t> Next(std::optional<size_t> previous);

 private:
  std::vector<size_t> task_of_;  // by question
  Mutex mutex_;
  std::vector<std::deque<size_t>> left_
      DAVINCI_GUARDED_BY(mutex_);                // questions by task, in order of first appearance
  size_t begun_ DAVINCI_GUARDED_BY(mutex_) = 0;  // tasks before this one have been begun
};

}  // namespace davinci::judge
