// The examples of a run: those of all token files that are not too long, by number. Lengths are at
// hand; the tokens of an example are read from the mapped file when they are needed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/trainer/token_cache.h"

namespace davinci::trainer {

// Examples begin … end of one entry of data.train.
struct DataSection {
  size_t begin = 0;
  size_t end = 0;
  double weight = 1;  // times that an epoch sees each example
};

class SftData {
 public:
  // The rows of `entries` (row_files.h), in order. `weights`: of each entry, or empty. NotFound,
  // InvalidArgument: no example, or one above `max_tokens` unless `skip_overlong`; errors name file
  // and line.
  static Result<SftData> Load(std::span<const std::string> entries, std::span<const double> weights,
                              const SftEncoder& encoder, int64_t max_tokens, bool skip_overlong);

  bool empty() const { return places_.empty(); }
  size_t size() const { return places_.size(); }
  int64_t num_tokens(size_t i) const { return entry(i).num_tokens; }
  int64_t num_targets(size_t i) const { return entry(i).num_targets; }
  rl::AgentKind agent(size_t i) const { return static_cast<rl::AgentKind>(entry(i).agent); }
  const std::string& split(size_t i) const {
    return tokens_.files[places_[i].file].split(places_[i].index);
  }
  SftExample Example(size_t i) const {
    return tokens_.files[places_[i].file].Read(places_[i].index);
  }
  std::span<const DataSection> sections() const { return sections_; }

  int64_t num_skipped() const { return num_skipped_; }  // too long
  int64_t total_tokens() const { return total_tokens_; }
  int64_t total_targets() const { return total_targets_; }
  int64_t longest() const { return longest_; }
  int64_t num_encoded() const { return tokens_.num_encoded; }  // not in the cache before
  const std::string& digest() const { return tokens_.digest; }

 private:
  struct Place {
    uint32_t file = 0;
    uint32_t index = 0;
  };
  const TokenFile::Entry& entry(size_t i) const {
    return tokens_.files[places_[i].file].entry(places_[i].index);
  }

  TokenFiles tokens_;
  std::vector<Place> places_;
  std::vector<DataSection> sections_;
  int64_t num_skipped_ = 0;
  int64_t total_tokens_ = 0;
  int64_t total_targets_ = 0;
  int64_t longest_ = 0;
};

}  // namespace davinci::trainer
