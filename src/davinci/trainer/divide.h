// How the rows of an update are divided over ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace davinci::trainer {

// The rows of each rank, ascending: every row has one rank, and the ranks' numbers of tokens differ
// little (longest first, each to the rank with the fewest tokens so far, of equals to the first). A
// function of its arguments alone; with one rank all rows in their order. With fewer rows than
// ranks some have none.
std::vector<std::vector<size_t>> DivideRows(std::span<const int64_t> lengths, int ranks);

}  // namespace davinci::trainer
