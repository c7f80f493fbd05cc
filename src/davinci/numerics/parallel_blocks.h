// Splits [0, n) into blocks that depend on n only, so that sums come out the same for every number
// of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace davinci::numerics {

struct BlockPlan {
  int64_t n = 0;
  int64_t block_size = 1;
  int num_blocks = 0;
};

inline BlockPlan PlanBlocks(int64_t n, int64_t min_block_size) {
  constexpr int64_t kMaxBlocks = 256;
  if (n <= 0) return {};
  int64_t block_size = std::max(min_block_size, (n + kMaxBlocks - 1) / kMaxBlocks);
  block_size = (block_size + 1023) / 1024 * 1024;
  return {n, block_size, static_cast<int>((n + block_size - 1) / block_size)};
}

// Calls work(block, begin, end) once per block; blocks run concurrently, work must not throw.
// Starting threads may be refused (a process limit); the calling thread then does the work.
template <typename Work>
void ForEachBlock(const BlockPlan& plan, int num_threads, const Work& work) {
  if (num_threads <= 0) num_threads = static_cast<int>(std::thread::hardware_concurrency());
  num_threads = std::clamp(num_threads, 1, std::max(plan.num_blocks, 1));
  std::atomic<int> next{0};
  const auto loop = [&] {
    for (int block = next++; block < plan.num_blocks; block = next++) {
      const int64_t begin = block * plan.block_size;
      work(block, begin, std::min(begin + plan.block_size, plan.n));
    }
  };
  std::vector<std::thread> helpers;
  try {
    helpers.reserve(num_threads - 1);
    for (int i = 1; i < num_threads; ++i) helpers.emplace_back(loop);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): fewer helpers, same result
  }
  loop();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace davinci::numerics
