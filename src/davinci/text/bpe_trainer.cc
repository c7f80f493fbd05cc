#include "davinci/text/bpe_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "davinci/base/utf8.h"
#include "davinci/text/byte_alphabet.h"

namespace davinci::text {
namespace {

using PairOfIds = uint64_t;  // left << 32 | right: their order is that of the pairs

PairOfIds Join(uint32_t left, uint32_t right) { return static_cast<uint64_t>(left) << 32 | right; }

struct PairHash {
  size_t operator()(PairOfIds pair) const {
    pair *= 0x9e3779b97f4a7c15ULL;
    return static_cast<size_t>(pair ^ pair >> 32);
  }
};

// A pair, its count when it was queued, and words that may hold it.
struct MergeCandidate {
  PairOfIds pair = 0;
  int64_t count = 0;
  std::vector<uint32_t> words;
};
struct LessUrgent {
  bool operator()(const MergeCandidate& a, const MergeCandidate& b) const {
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }
};

class BpeTraining {
 public:
  BpeTraining(std::span<const WordCount> words, const BpeTrainerOptions& options)
      : options_(options) {
    for (const std::string& special : options.specials) IdOf(special);
    AddAlphabet();
    std::vector<uint32_t> symbols;
    for (const WordCount& word : words) {
      symbols.clear();
      for (const char c : word.word) symbols.push_back(byte_ids_[static_cast<uint8_t>(c)]);
      symbols_.push_back(symbols);
      counts_.push_back(word.count);
    }
  }

  void Run() {
    for (uint32_t word = 0; word < symbols_.size(); ++word)
      for (size_t i = 0; i + 1 < symbols_[word].size(); ++i)
        Add(Join(symbols_[word][i], symbols_[word][i + 1]), counts_[word], word, true);
    QueueNew();
    while (tokens_.size() < options_.vocab_size && !queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end(), LessUrgent());
      MergeCandidate top = std::move(queue_.back());
      queue_.pop_back();
      if (const int64_t now = pair_counts_[top.pair]; top.count != now) {
        top.count = now;
        Push(std::move(top));
        continue;
      }
      if (top.count < 1) break;
      const auto left = static_cast<uint32_t>(top.pair >> 32);
      const auto right = static_cast<uint32_t>(top.pair);
      const uint32_t joined = IdOf(tokens_[left] + tokens_[right]);
      merges_.push_back(top.pair);
      for (const uint32_t word : top.words) Merge(word, left, right, joined);
      QueueNew();
    }
  }

  void Write(TokenizerDefinition* definition) const {
    definition->tokens = tokens_;
    definition->added.clear();
    for (size_t id = 0; id < options_.specials.size(); ++id)
      definition->added.push_back({static_cast<int32_t>(id), options_.specials[id], true});
    // The later place counts for a pair that was merged twice.
    std::unordered_map<PairOfIds, size_t, PairHash> last;
    for (size_t rank = 0; rank < merges_.size(); ++rank) last[merges_[rank]] = rank;
    definition->merges.clear();
    for (size_t rank = 0; rank < merges_.size(); ++rank)
      if (last[merges_[rank]] == rank)
        definition->merges.emplace_back(tokens_[merges_[rank] >> 32],
                                        tokens_[static_cast<uint32_t>(merges_[rank])]);
  }

 private:
  uint32_t IdOf(const std::string& token) {
    const auto [found, is_new] = ids_.emplace(token, static_cast<uint32_t>(tokens_.size()));
    if (is_new) tokens_.push_back(token);
    return found->second;
  }

  void AddAlphabet() {
    std::map<uint32_t, int> by_code_point;
    for (int byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      by_code_point[static_cast<uint32_t>(DecodeUtf8(ToByteAlphabet({&c, 1})).value)] = byte;
    }
    for (const auto& [code_point, byte] : by_code_point) {
      const char c = static_cast<char>(byte);
      byte_ids_[byte] = IdOf(ToByteAlphabet({&c, 1}));
    }
  }

  // `count` more of the pair; where it `appears`, the word waits for the next QueueNew().
  void Add(PairOfIds pair, int64_t count, uint32_t word, bool appears) {
    pair_counts_[pair] += count;
    if (!appears) return;
    std::vector<uint32_t>& words = new_words_[pair];
    if (words.empty() || words.back() != word) words.push_back(word);
  }

  void Push(MergeCandidate candidate) {
    queue_.push_back(std::move(candidate));
    std::push_heap(queue_.begin(), queue_.end(), LessUrgent());
  }

  void QueueNew() {
    for (auto& [pair, words] : new_words_)
      if (const int64_t count = pair_counts_[pair]; count > 0)
        Push({pair, count, std::move(words)});
    new_words_.clear();
  }

  void Merge(uint32_t word, uint32_t left, uint32_t right, uint32_t joined) {
    std::vector<uint32_t>& symbols = symbols_[word];
    const int64_t count = counts_[word];
    size_t kept = 0;
    for (size_t i = 0; i < symbols.size(); ++kept) {
      if (i + 1 == symbols.size() || symbols[i] != left || symbols[i + 1] != right) {
        symbols[kept] = symbols[i++];
        continue;
      }
      if (kept > 0) {
        const uint32_t before = symbols[kept - 1];
        Add(Join(before, left), -count, word, false);
        Add(Join(before, joined), count, word, true);
      }
      i += 2;
      symbols[kept] = joined;
      if (i < symbols.size()) {
        Add(Join(right, symbols[i]), -count, word, false);
        Add(Join(joined, symbols[i]), count, word, true);
      }
    }
    symbols.resize(kept);
  }

  const BpeTrainerOptions& options_;
  std::vector<std::string> tokens_;  // in the byte-level alphabet
  std::unordered_map<std::string, uint32_t> ids_;
  uint32_t byte_ids_[256] = {};
  std::vector<std::vector<uint32_t>> symbols_;  // of each word
  std::vector<int64_t> counts_;
  std::unordered_map<PairOfIds, int64_t, PairHash> pair_counts_;
  std::unordered_map<PairOfIds, std::vector<uint32_t>, PairHash> new_words_;
  std::vector<MergeCandidate> queue_;  // a heap
  std::vector<PairOfIds> merges_;
};

}  // namespace

Status TrainBpe(std::span<const WordCount> words, const BpeTrainerOptions& options,
                TokenizerDefinition* definition) {
  const size_t least = options.specials.size() + 256;
  if (options.vocab_size < least)
    return InvalidArgument(fmt::format(
        "a vocabulary of {} has no room for {} special tokens and 256 bytes; the least is {}",
        options.vocab_size, options.specials.size(), least));
  BpeTraining training(words, options);
  training.Run();
  training.Write(definition);
  return Status::Ok();
}

}  // namespace davinci::text
