// Which examples an epoch sees, and in which order: sections by weight, and a curriculum.
#pragma once

#include <cstdint>
#include <vector>

#include "davinci/trainer/sft_data.h"

namespace davinci::trainer {

// Examples of every epoch: of a section its size times its weight, rounded.
size_t EpochSize(std::span<const DataSection> sections);

// The examples of epoch `epoch` (0, 1, …), a function of its arguments alone. With weights of 1 it
// is EpochOrder(); of a section with a fraction in its weight each epoch takes another part.
//
// `lengths` (of all examples; may be empty) and `curriculum` c > 0: in epoch 0 an example of length
// percentile p comes uniformly between c p² and the end, so that short examples begin, the longest
// wait until the part c of the epoch is over, and no length ends before it.
std::vector<size_t> SftOrder(int64_t seed, int64_t epoch, std::span<const DataSection> sections,
                             std::span<const int64_t> lengths = {}, double curriculum = 0);

}  // namespace davinci::trainer
