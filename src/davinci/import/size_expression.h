// Sizes of a traced module that are symbols (python/davinci_worker/sizes.py writes them): sums of
// products with whole coefficients, "2*s0*s1 - 3", on their own or marked within the text of a
// call. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::import {

struct TracedSymbol {
  std::string name;            // "s0"
  int64_t value = 0;           // for which sizes are counted
  std::vector<int64_t> named;  // at the shapes that are served; the first is the task's own
  std::string place;           // Python text that has it: "x.shape[0]"
};

struct SizeTerm {
  int64_t factor = 1;
  std::vector<size_t> symbols;  // a product of these
};
using SizeExpression = std::vector<SizeTerm>;  // a sum

// Nothing: the text is no such sum, names what is no symbol, or is too long.
std::optional<SizeExpression> ParseSize(std::string_view text,
                                        const std::vector<TracedSymbol>& symbols);
// The size for the symbols' values; nothing: it is not within ±2^40.
std::optional<int64_t> SizeAt(const SizeExpression& size, const std::vector<TracedSymbol>& symbols);
// `text` with `replace(size)` in the place of each marked size; nothing: one of them cannot be
// read.
std::optional<std::string> WithSizes(
    std::string_view text, const std::vector<TracedSymbol>& symbols,
    const std::function<std::string(const SizeExpression&)>& replace);

}  // namespace davinci::import
