// Work that threads do at once and that is taken in order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"

namespace davinci {

// make(0) … make(count - 1) run on `threads` threads (0: all cores); take(i, value) follows in
// ascending order, one at a time. At most `threads` values exist at once. The first failure in this
// order ends the work and is returned; later calls of take() do not happen. Neither may throw.
//
// make: Result<T>(size_t), any thread. take: Status(size_t, T).
template <typename Make, typename Take>
Status MakeInOrder(size_t count, size_t threads, const Make& make, const Take& take) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, std::max<size_t>(count, 1));
  Mutex mutex;
  std::condition_variable_any turns;
  size_t next = 0;  // to be made
  size_t turn = 0;  // to be taken
  Status failed;
  const auto loop = [&] {
    MutexLock lock(mutex);
    while (failed.ok() && next < count) {
      const size_t mine = next++;
      lock.unlock();
      auto made = make(mine);
      lock.lock();
      turns.wait(lock, [&] { return !failed.ok() || turn == mine; });
      if (!failed.ok()) break;
      failed = made.ok() ? take(mine, std::move(made).value()) : made.status();
      ++turn;
      turns.notify_all();
    }
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < threads; ++i) {
    try {
      helpers.emplace_back(loop);
    } catch (const std::exception&) {
      break;  // a limit of the machine: fewer threads do the same
    }
  }
  loop();
  for (std::thread& helper : helpers) helper.join();
  return failed;
}

}  // namespace davinci
