#include "davinci/trainer/divide.h"

#include <algorithm>
#include <numeric>

namespace davinci::trainer {

std::vector<std::vector<size_t>> DivideRows(std::span<const int64_t> lengths, int ranks) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<size_t>> rows(static_cast<size_t>(ranks));
  std::vector<int64_t> tokens(rows.size());
  for (const size_t row : order) {
    const auto least =
        static_cast<size_t>(std::min_element(tokens.begin(), tokens.end()) - tokens.begin());
    rows[least].push_back(row);
    tokens[least] += lengths[row];
  }
  for (auto& of_rank : rows) std::sort(of_rank.begin(), of_rank.end());
  return rows;
}

}  // namespace davinci::trainer
