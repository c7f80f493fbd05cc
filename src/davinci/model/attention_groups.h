// Packed sequences as dense batches: attention kernels that know no borders between packed rows are
// fast where a batch has one length. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace davinci::model {

// Sequences that are computed as one batch of `count` sequences of `length` rows. Shorter ones are
// padded behind their end, where causal attention never looks.
struct AttentionGroup {
  int64_t length = 0;
  int64_t count = 0;
  std::vector<int64_t> rows;    // of the packed rows, ascending
  std::vector<int64_t> places;  // where each of them lies among the count * length rows
  bool padded() const { return static_cast<int64_t>(places.size()) != count * length; }
};

// Row borders[i] is the first of sequence i; the last border is the number of rows. Every row is in
// one group. Lengths that occur alone are rounded up by at most a quarter (or to 128), so that few
// different batches occur: a kernel is planned once for each.
std::vector<AttentionGroup> GroupSequences(std::span<const int64_t> borders);

}  // namespace davinci::model
