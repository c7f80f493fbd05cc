#include "davinci/embedded/token_mask.h"

#include <algorithm>
#include <limits>

namespace davinci::embedded {
namespace {

// Longest token that is counted in texts that end a reply; longer ones are rare there.
constexpr size_t kLongestCounted = 16;
constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();

void Set(std::vector<uint64_t>* bits, model::TokenId id) {
  (*bits)[static_cast<size_t>(id) / 64] |= uint64_t{1} << (static_cast<size_t>(id) % 64);
}

}  // namespace

TokenTable::TokenTable(const text::Tokenizer& tokenizer)
    : tokenizer_(tokenizer), vocab_(static_cast<size_t>(tokenizer.vocab_size())) {
  for (int32_t id = 0; id < tokenizer_.vocab_size(); ++id) {
    const std::string_view bytes = tokenizer_.TokenBytes(id);
    if (bytes.empty() || tokenizer_.IsSpecial(id)) continue;
    tokens_.push_back({bytes, id, 0});
    by_bytes_.emplace(bytes, id);
    longest_ = std::max(longest_, bytes.size());
  }
  std::sort(tokens_.begin(), tokens_.end(),
            [](const Token& a, const Token& b) { return a.bytes < b.bytes; });
  for (size_t i = 1; i < tokens_.size(); ++i) {
    const std::string_view before = tokens_[i - 1].bytes, bytes = tokens_[i].bytes;
    size_t& shared = tokens_[i].shared;
    while (shared < before.size() && shared < bytes.size() && before[shared] == bytes[shared])
      ++shared;
  }
}

int TokenTable::Count(std::string_view text) const {
  int count = 0;
  while (!text.empty()) {
    size_t size = std::min({longest_, text.size(), kLongestCounted});
    while (size > 0 && !by_bytes_.contains(text.substr(0, size))) --size;
    if (size == 0) return 0;
    text.remove_prefix(size);
    ++count;
  }
  return count;
}

TokenMask::TokenMask(std::shared_ptr<const TokenTable> table, ByteGrammar grammar,
                     std::vector<model::TokenId> stop_tokens)
    : table_(std::move(table)),
      grammar_(std::move(grammar)),
      stop_tokens_(std::move(stop_tokens)),
      state_(grammar_.start()) {}

int TokenMask::Needed(const ByteGrammar::State& state) {
  const auto [found, made] = needed_.try_emplace(state, 0);
  if (made) found->second = table_->Count(grammar_.Completion(state)) + 1;
  return found->second;
}

TokenMask::Entry TokenMask::Compute(const ByteGrammar::State& state, int64_t most) {
  Entry entry;
  entry.bits.assign((table_->vocab() + 63) / 64, 0);
  if (grammar_.IsEnd(state)) {
    for (const model::TokenId id : stop_tokens_)
      if (id >= 0 && static_cast<size_t>(id) < table_->vocab()) Set(&entry.bits, id);
    return entry;
  }
  std::vector<ByteGrammar::State> path = {state};  // behind each byte of the token before
  for (const TokenTable::Token& token : table_->tokens()) {
    if (token.shared >= path.size()) continue;  // the token before failed in what both have
    path.resize(token.shared + 1);
    while (path.size() <= token.bytes.size()) {
      const auto next =
          grammar_.Next(path.back(), static_cast<uint8_t>(token.bytes[path.size() - 1]));
      if (!next) break;
      path.push_back(*next);
    }
    if (path.size() <= token.bytes.size()) continue;
    const int needed = Needed(path.back());
    if (needed > most) continue;
    Set(&entry.bits, token.id);
    entry.most_needed = std::max(entry.most_needed, needed);
  }
  return entry;
}

std::span<const uint64_t> TokenMask::Allowed(int64_t remaining) {
  // Far from its limit a text is as one without.
  ByteGrammar::State key = state_;
  if (grammar_.Room(key) > table_->longest()) key.count = 0;
  auto found = entries_.find(key);
  if (found == entries_.end()) found = entries_.emplace(key, Compute(key, kAnyNumber)).first;
  if (found->second.most_needed < remaining) return found->second.bits;
  // The first token of the shortest way that is known leads on where it fits at all.
  narrow_ = Compute(state_, std::max<int64_t>(remaining - 1, Needed(state_) - 1));
  return narrow_.bits;
}

void TokenMask::Accept(model::TokenId token) {
  for (const char byte : table_->BytesOf(token))
    if (const auto next = grammar_.Next(state_, static_cast<uint8_t>(byte))) state_ = *next;
}

}  // namespace davinci::embedded
