// Near-duplicate texts: MinHash signatures and an index that finds candidates without comparing all
// pairs (Broder 1997, "On the resemblance and containment of documents"; Leskovec, Rajaraman &
// Ullman, "Mining of Massive Datasets", §3.4).
//
// A text is the set of its shingles, kShingleTokens consecutive tokens each. Similarity is the
// Jaccard index of two such sets, computed exactly; MinHash only chooses what to compare. With 32
// bands of 4 rows a pair of similarity 0.7 is found with probability 0.9998, one of 0.3 is compared
// in vain with probability 0.23.
//
// Deterministic: the same texts give the same answers in any order and on any machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace davinci::skill {

inline constexpr size_t kShingleTokens = 3;
inline constexpr size_t kNumBands = 32;
inline constexpr size_t kRowsPerBand = 4;

// Hashes of the shingles of `text`, sorted, each once. A text of fewer tokens is one shingle; one
// without any has none.
std::vector<uint64_t> Shingles(std::string_view text);

// |a and b| / |a or b|; two empty sets are equal (1).
double Jaccard(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b);

class NearDuplicateIndex {
 public:
  struct Match {
    std::string name;
    double similarity = 0;
  };

  // Adds a text under `name`, or replaces it.
  void Add(std::string_view name, std::string_view text);
  void Remove(std::string_view name);
  // The most similar text with similarity >= `threshold` other than `except`; ties go to the name
  // that sorts first. An empty name: none.
  Match Nearest(std::string_view text, double threshold, std::string_view except = "") const;
  size_t size() const { return number_of_name_.size(); }

 private:
  using Bands = std::array<uint64_t, kNumBands>;
  static Bands BandsOf(const std::vector<uint64_t>& shingles);

  struct Text {
    std::string name;
    std::vector<uint64_t> shingles;
  };

  std::vector<Text> texts_;  // by number; removed ones are empty and their numbers used again
  std::vector<uint32_t> free_;
  std::unordered_map<std::string, uint32_t> number_of_name_;
  std::array<std::unordered_multimap<uint64_t, uint32_t>, kNumBands> buckets_;
};

}  // namespace davinci::skill
