// Smaller sizes for tasks that were written for a larger machine: KernelBench files name their
// sizes as module-level integer constants, so setting those to less (as [sizes.cpu] does) makes the
// task smaller without touching its text. Reads the text only and runs nothing. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/task/task_set.h"

namespace davinci::task {

// Module-level `NAME = integer` in the order of the text; the right side may be made of integers,
// earlier names, + - * // ** and parentheses. A name that is set twice counts as its last value. A
// name of `instead` has that value, and those made of it follow.
std::vector<std::pair<std::string, int64_t>> IntegerConstants(
    std::string_view source, const std::map<std::string, int64_t>& instead = {});

// Elements of the tensors that get_inputs() draws with torch.rand, randn, randint, zeros, ones,
// empty or full, where every size is known from the text; nothing where none is.
std::optional<int64_t> InputElements(std::string_view source,
                                     const std::map<std::string, int64_t>& constants);

struct ShrunkSize {
  std::string name;
  std::string own;  // "8192", "[64, 8192]"
  std::string set;  // likewise; TOML
};

// Constants halved until InputElements() is at most `most_elements`: first the leading size of the
// inputs (the first constant that get_inputs() names), down to 1 where it is used by get_inputs()
// alone, else to kSmallestSize; then the largest of the others that it names, down to
// kSmallestSize. Constants and lists of the module that are made of them follow. Empty where the
// inputs are small enough or their sizes are no constants.
inline constexpr int64_t kSmallestSize = 16;
std::vector<ShrunkSize> ShrinkSizes(std::string_view source, int64_t most_elements);

// Gives the entry [sizes.cpu] by ShrinkSizes(), unless its sidecar has such sizes. An entry that
// changes carries its text afterwards and has no path. Reads the file of an entry that is one.
Result<std::vector<ShrunkSize>> ShrinkForCpu(TaskEntry* entry, int64_t most_elements);

// "batch_size 4096 -> 128, dim 16384 -> 2048".
std::string ShrunkText(const std::vector<ShrunkSize>& sizes);

}  // namespace davinci::task
