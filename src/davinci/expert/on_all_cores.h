// Runs `work(i)` for each i below `count`, on all cores; returns when all are done. Internal.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace davinci::expert {

inline void OnAllCores(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;  // joined before the rest goes
  for (size_t i = 0; i < std::min(cores, count); ++i) threads.emplace_back(run);
}

}  // namespace davinci::expert
