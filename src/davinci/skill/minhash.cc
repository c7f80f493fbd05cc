#include "davinci/skill/minhash.h"

#include <algorithm>
#include <limits>
#include <set>

#include "davinci/base/rng.h"
#include "davinci/skill/tokenizer.h"

namespace davinci::skill {
namespace {

constexpr size_t kNumRows = kNumBands * kRowsPerBand;

// FNV-1a: a fixed function, unlike std::hash.
uint64_t HashBytes(std::string_view bytes, uint64_t hash) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

uint64_t Mix(uint64_t value) { return SplitMix64(value).Next(); }

// The row-th "permutation" of a shingle: multiply-add with fixed odd multipliers, upper bits.
struct Permutation {
  uint64_t multiplier;
  uint64_t offset;
};

const std::array<Permutation, kNumRows>& Permutations() {
  static const auto permutations = [] {
    std::array<Permutation, kNumRows> made;
    SplitMix64 random(0x6d696e68617368ull);  // any constant, never to be changed: "minhash"
    for (Permutation& p : made) p = {random.Next() | 1, random.Next()};
    return made;
  }();
  return permutations;
}

}  // namespace

std::vector<uint64_t> Shingles(std::string_view text) {
  const std::vector<std::string> tokens = Tokenize(text);
  std::vector<uint64_t> shingles;
  if (tokens.empty()) return shingles;
  const size_t width = std::min(kShingleTokens, tokens.size());
  for (size_t i = 0; i + width <= tokens.size(); ++i) {
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t j = i; j < i + width; ++j) hash = HashBytes("\n", HashBytes(tokens[j], hash));
    shingles.push_back(Mix(hash));
  }
  std::sort(shingles.begin(), shingles.end());
  shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
  return shingles;
}

double Jaccard(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  size_t shared = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) {
      ++shared, ++x, ++y;
    } else {
      *x < *y ? ++x : ++y;
    }
  }
  const size_t all = a.size() + b.size() - shared;
  return all == 0 ? 1.0 : static_cast<double>(shared) / static_cast<double>(all);
}

NearDuplicateIndex::Bands NearDuplicateIndex::BandsOf(const std::vector<uint64_t>& shingles) {
  std::array<uint64_t, kNumRows> least;
  least.fill(std::numeric_limits<uint64_t>::max());
  const auto& permutations = Permutations();
  for (const uint64_t shingle : shingles) {
    for (size_t row = 0; row < kNumRows; ++row) {
      const uint64_t value =
          (shingle * permutations[row].multiplier + permutations[row].offset) >> 16;
      least[row] = std::min(least[row], value);
    }
  }
  Bands bands;
  for (size_t band = 0; band < kNumBands; ++band) {
    uint64_t key = band;
    for (size_t row = 0; row < kRowsPerBand; ++row)
      key = Mix(key ^ least[band * kRowsPerBand + row]);
    bands[band] = key;
  }
  return bands;
}

void NearDuplicateIndex::Add(std::string_view name, std::string_view text) {
  Remove(name);
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(texts_.size()));
    texts_.emplace_back();
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  texts_[number] = {std::string(name), Shingles(text)};
  number_of_name_.emplace(name, number);
  const Bands bands = BandsOf(texts_[number].shingles);
  for (size_t band = 0; band < kNumBands; ++band) buckets_[band].emplace(bands[band], number);
}

void NearDuplicateIndex::Remove(std::string_view name) {
  const auto found = number_of_name_.find(std::string(name));
  if (found == number_of_name_.end()) return;
  const uint32_t number = found->second;
  const Bands bands = BandsOf(texts_[number].shingles);
  for (size_t band = 0; band < kNumBands; ++band) {
    const auto [from, to] = buckets_[band].equal_range(bands[band]);
    for (auto entry = from; entry != to; ++entry) {
      if (entry->second != number) continue;
      buckets_[band].erase(entry);
      break;
    }
  }
  texts_[number] = {};
  free_.push_back(number);
  number_of_name_.erase(found);
}

NearDuplicateIndex::Match NearDuplicateIndex::Nearest(std::string_view text, double threshold,
                                                      std::string_view except) const {
  const std::vector<uint64_t> shingles = Shingles(text);
  const Bands bands = BandsOf(shingles);
  std::set<uint32_t> candidates;
  for (size_t band = 0; band < kNumBands; ++band) {
    const auto [from, to] = buckets_[band].equal_range(bands[band]);
    for (auto entry = from; entry != to; ++entry) candidates.insert(entry->second);
  }
  Match best;
  for (const uint32_t number : candidates) {
    const Text& other = texts_[number];
    if (other.name == except) continue;
    const double similarity = Jaccard(shingles, other.shingles);
    if (similarity < threshold || similarity < best.similarity) continue;
    if (similarity == best.similarity && !best.name.empty() && other.name > best.name) continue;
    best = {other.name, similarity};
  }
  return best;
}

}  // namespace davinci::skill
