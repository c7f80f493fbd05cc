#include "davinci/trainer/epoch.h"

#include <numeric>
#include <utility>

#include "davinci/base/rng.h"

namespace davinci::trainer {

std::vector<size_t> EpochOrder(int64_t seed, int64_t epoch, size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  SplitMix64 rng(static_cast<uint64_t>(seed) * 0x9e3779b97f4a7c15ULL +
                 static_cast<uint64_t>(epoch));
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  return order;
}

}  // namespace davinci::trainer
