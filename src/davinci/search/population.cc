#include "davinci/search/population.h"

#include <algorithm>
#include <set>

#include "davinci/base/rng.h"
#include "davinci/skill/minhash.h"

namespace davinci::search {

std::optional<PopulationPolicy> ParsePopulationPolicy(std::string_view name) {
  if (name == "single_best") return PopulationPolicy::kSingleBest;
  if (name == "elite") return PopulationPolicy::kElite;
  if (name == "diverse") return PopulationPolicy::kDiverse;
  return std::nullopt;
}

std::vector<const Attempt*> Population(const std::vector<const Attempt*>& attempts,
                                       PopulationPolicy policy, size_t size) {
  std::vector<const Attempt*> correct;
  for (const Attempt* attempt : attempts)
    if (attempt->correct && attempt->speedup > 0) correct.push_back(attempt);
  std::ranges::stable_sort(correct, [](const Attempt* a, const Attempt* b) {
    return a->speedup != b->speedup ? a->speedup > b->speedup : a->id < b->id;
  });
  if (policy == PopulationPolicy::kSingleBest) size = std::min<size_t>(size, 1);
  std::set<std::string_view> sources;
  std::erase_if(correct, [&](const Attempt* a) { return !sources.insert(a->code).second; });
  if (policy != PopulationPolicy::kDiverse) {
    if (correct.size() > size) correct.resize(size);
    return correct;
  }
  std::vector<const Attempt*> members;
  std::vector<const Attempt*> similar;
  std::vector<std::vector<uint64_t>> shingles;
  for (const Attempt* attempt : correct) {
    auto own = skill::Shingles(attempt->code);
    const bool known = std::ranges::any_of(
        shingles, [&](const auto& other) { return skill::Jaccard(own, other) >= kSameIdea; });
    (known ? similar : members).push_back(attempt);
    if (!known) shingles.push_back(std::move(own));
  }
  if (members.size() > size) members.resize(size);
  for (const Attempt* attempt : similar)
    if (members.size() < size) members.push_back(attempt);
  std::ranges::stable_sort(
      members, [](const Attempt* a, const Attempt* b) { return a->speedup > b->speedup; });
  return members;
}

std::vector<const Attempt*> DrawParents(const std::vector<const Attempt*>& population, size_t count,
                                        uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<const Attempt*> parents;
  std::vector<size_t> left;
  for (size_t i = 0; i < population.size(); ++i) left.push_back(i);
  const auto weight = [&](size_t index) {
    return 1.0 / static_cast<double>(index + 1 + population.size());
  };
  while (parents.size() < count && !left.empty()) {
    double total = 0;
    for (const size_t index : left) total += weight(index);
    double drawn = random.Uniform() * total;
    size_t at = 0;
    while (at + 1 < left.size() && drawn >= weight(left[at])) drawn -= weight(left[at++]);
    parents.push_back(population[left[at]]);
    left.erase(left.begin() + static_cast<ptrdiff_t>(at));
  }
  return parents;
}

std::vector<const Attempt*> DrawInsights(const std::vector<const Attempt*>& attempts, size_t count,
                                         uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<const Attempt*> with;
  for (const Attempt* attempt : attempts)
    if (!attempt->insight.empty()) with.push_back(attempt);
  while (with.size() > count)
    with.erase(with.begin() + static_cast<ptrdiff_t>(random.Below(with.size())));
  return with;
}

}  // namespace davinci::search
