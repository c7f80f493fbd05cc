// Populations of kernels: who survives, and who becomes a parent. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "davinci/search/history.h"

namespace davinci::search {

enum class PopulationPolicy {
  kSingleBest,  // the fastest correct kernel alone
  kElite,       // the fastest correct kernels, distinct sources
  kDiverse,  // the fastest correct kernels that do not resemble a faster one (shingles, Jaccard);
             // filled up with the fastest others
};
std::optional<PopulationPolicy> ParsePopulationPolicy(std::string_view name);  // single_best,
                                                                               // elite, diverse

// Two kernels of at least this Jaccard similarity are one idea.
inline constexpr double kSameIdea = 0.7;

// The members among `attempts`, fastest first; at most `size`. Equal speed: the earlier id first.
std::vector<const Attempt*> Population(const std::vector<const Attempt*>& attempts,
                                       PopulationPolicy policy, size_t size);

// `count` distinct parents, drawn with weights 1 / (rank + size) of the member with this rank (from
// 1) by `seed`; all members when there are no more.
std::vector<const Attempt*> DrawParents(const std::vector<const Attempt*>& population, size_t count,
                                        uint64_t seed);

// `count` of `attempts` that have an insight, each equally likely, in the order they were made.
std::vector<const Attempt*> DrawInsights(const std::vector<const Attempt*>& attempts, size_t count,
                                         uint64_t seed);

}  // namespace davinci::search
