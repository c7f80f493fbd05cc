// The order in which an epoch goes through its examples or tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace davinci::trainer {

// A permutation of 0 … count - 1, each equally likely (Fisher–Yates): a function of seed and epoch
// alone, so a run that is started again draws the same.
std::vector<size_t> EpochOrder(int64_t seed, int64_t epoch, size_t count);

}  // namespace davinci::trainer
