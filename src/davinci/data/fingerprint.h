// Near-duplicates among tasks and against given files: MinHash over the tokens of Python text
// without comments and docstrings, numbers counted as one token (Broder 1997). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace davinci::fingerprint {

inline constexpr size_t kNumHashes = 64;
inline constexpr size_t kNumBands = 10;
inline constexpr size_t kRowsPerBand = 6;
using Signature = std::array<uint32_t, kNumHashes>;

enum class TokenRule {
  kKeepNames,   // files that differ in numbers alone are alike
  kPlainNames,  // names that are not behind a dot count as one token too
};

Signature SignatureOf(std::string_view source, TokenRule rule);
// Estimated Jaccard similarity of the texts' token shingles.
double Similarity(const Signature& a, const Signature& b);

// Signatures seen so far. A pair of similarity 0.9 is found with probability 0.9995, one of 0.8
// with 0.95. Add is not thread-safe; Nearest is, as long as nothing is added.
class SignatureIndex {
 public:
  // The greatest estimated similarity to a signature that was added, 0 where none shares a band.
  double Nearest(const Signature& signature) const;
  struct Match {
    size_t number = 0;  // of the signature, in the order of Add, from 0
    double similarity = 0;
  };
  // Which one it is, the earlier where two are equally alike; nothing where none shares a band.
  std::optional<Match> NearestOf(const Signature& signature) const;
  void Add(const Signature& signature);
  size_t size() const { return signatures_.size(); }

 private:
  static uint64_t Band(const Signature& signature, size_t band);

  std::vector<Signature> signatures_;
  std::array<std::unordered_map<uint64_t, uint32_t>, kNumBands> newest_;  // number + 1
  std::vector<std::array<uint32_t, kNumBands>> older_;                    // number + 1, or 0
};

}  // namespace davinci::fingerprint
