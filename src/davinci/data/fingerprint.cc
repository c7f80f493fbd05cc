#include "davinci/data/fingerprint.h"

#include <algorithm>
#include <cctype>

#include "davinci/base/hash.h"

namespace davinci::fingerprint {
namespace {

constexpr size_t kShingle = 4;
// Signatures compared per band: the newest ones of a crowded bucket.
constexpr int kMostCompared = 48;

std::vector<uint64_t> Tokens(std::string_view text, TokenRule rule) {
  std::vector<uint64_t> tokens;
  const uint64_t number = HashBytes("0"), name = HashBytes("v");
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i).starts_with("\"\"\"") || text.substr(i).starts_with("'''")) {
      const size_t end = text.find(text.substr(i, 3), i + 3);
      i = end == std::string_view::npos ? text.size() : end + 3;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      while (i < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '.'))
        ++i;
      tokens.push_back(number);
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      const size_t begin = i;
      while (i < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_'))
        ++i;
      const bool behind_dot =
          begin > 0 && text[begin - 1] == '.' && !text.substr(0, begin).ends_with("self.");
      tokens.push_back(rule == TokenRule::kPlainNames && !behind_dot
                           ? name
                           : HashBytes(text.substr(begin, i - begin)));
    } else {
      tokens.push_back(HashBytes(text.substr(i++, 1)));
    }
  }
  return tokens;
}

}  // namespace

Signature SignatureOf(std::string_view source, TokenRule rule) {
  const std::vector<uint64_t> tokens = Tokens(source, rule);
  Signature signature;
  signature.fill(~0u);
  const size_t count = tokens.size() < kShingle ? 1 : tokens.size() - kShingle + 1;
  std::vector<uint64_t> shingles;
  for (size_t i = 0; i < count; ++i) {
    uint64_t hash = 0x2545f4914f6cdd1dull;
    for (size_t k = i; k < std::min(i + kShingle, tokens.size()); ++k)
      hash = (hash ^ tokens[k]) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29;
    shingles.push_back(hash);
  }
  std::sort(shingles.begin(), shingles.end());
  shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
  for (const uint64_t shingle : shingles) {
    // Multiply-shift with odd multipliers: one hash function per row.
    uint64_t multiplier = 0x9e3779b97f4a7c15ull;
    for (size_t h = 0; h < kNumHashes; ++h) {
      const auto mixed = static_cast<uint32_t>((shingle * multiplier + h) >> 32);
      signature[h] = std::min(signature[h], mixed);
      multiplier = multiplier * 6364136223846793005ull + 1442695040888963406ull;
      multiplier |= 1;
    }
  }
  return signature;
}

double Similarity(const Signature& a, const Signature& b) {
  size_t equal = 0;
  for (size_t h = 0; h < kNumHashes; ++h) equal += a[h] == b[h];
  return static_cast<double>(equal) / kNumHashes;
}

uint64_t SignatureIndex::Band(const Signature& signature, size_t band) {
  uint64_t hash = band + 1;
  for (size_t r = 0; r < kRowsPerBand; ++r)
    hash = (hash ^ signature[band * kRowsPerBand + r]) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 31;
  return hash;
}

double SignatureIndex::Nearest(const Signature& signature) const {
  const auto nearest = NearestOf(signature);
  return nearest ? nearest->similarity : 0;
}

std::optional<SignatureIndex::Match> SignatureIndex::NearestOf(const Signature& signature) const {
  std::optional<Match> best;
  for (size_t band = 0; band < kNumBands; ++band) {
    const auto found = newest_[band].find(Band(signature, band));
    if (found == newest_[band].end()) continue;
    uint32_t at = found->second;
    for (int compared = 0; at != 0 && compared < kMostCompared; ++compared) {
      const Match match{at - 1, Similarity(signature, signatures_[at - 1])};
      if (!best || match.similarity > best->similarity ||
          (match.similarity == best->similarity && match.number < best->number))
        best = match;
      at = older_[at - 1][band];
    }
  }
  return best;
}

void SignatureIndex::Add(const Signature& signature) {
  signatures_.push_back(signature);
  older_.emplace_back();
  const auto number = static_cast<uint32_t>(signatures_.size());
  for (size_t band = 0; band < kNumBands; ++band) {
    uint32_t& newest = newest_[band][Band(signature, band)];
    older_.back()[band] = newest;
    newest = number;
  }
}

}  // namespace davinci::fingerprint
