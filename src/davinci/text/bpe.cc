#include "davinci/text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <queue>

namespace davinci::text {
namespace {

constexpr uint64_t kFree = ~uint64_t{0};
constexpr uint32_t kNoMerge = std::numeric_limits<uint32_t>::max();
// Up to here a scan over all pairs is faster than a heap.
constexpr size_t kShort_bytes = 48;

__extension__ using Wide = unsigned __int128;

uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t HashBytes(std::string_view bytes) {
  constexpr uint64_t kA = 0x9e3779b97f4a7c15;
  constexpr uint64_t kB = 0xd6e8feb86659fd93;
  uint64_t hash = bytes.size() * kB;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = Mix(hash ^ word, kA);
  }
  uint64_t word = 0;
  std::memcpy(&word, at, left);
  return Mix(hash ^ word, kA);
}

uint64_t PairKey(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

size_t HashPair(uint64_t key) { return static_cast<size_t>(Mix(key, 0x9e3779b97f4a7c15)); }

}  // namespace

Result<Bpe> Bpe::Make(const std::vector<std::string>& tokens, const std::vector<Merge>& merges,
                      bool ignore_merges) {
  Bpe bpe;
  bpe.ignore_merges_ = ignore_merges;
  for (const std::string& token : tokens) {
    bpe.begins_.push_back(static_cast<uint32_t>(bpe.arena_.size()));
    if (token.size() > std::numeric_limits<uint32_t>::max() - bpe.arena_.size())
      return InvalidArgument("the tokens have more than 4 GiB of text");
    bpe.arena_ += token;
  }
  bpe.begins_.push_back(static_cast<uint32_t>(bpe.arena_.size()));
  bpe.words_.assign(std::bit_ceil(tokens.size() * 2 + 2), -1);
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty() || bpe.Find(tokens[id])) continue;
    const size_t mask = bpe.words_.size() - 1;
    size_t slot = HashBytes(tokens[id]) & mask;
    while (bpe.words_[slot] >= 0) slot = (slot + 1) & mask;
    bpe.words_[slot] = static_cast<int32_t>(id);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const auto id = bpe.Find({&c, 1});
    if (!id)
      return InvalidArgument(
          fmt::format("no token for the byte 0x{:02x}; the vocabulary must hold "
                      "the whole byte-level alphabet",
                      byte));
    bpe.byte_ids_[byte] = *id;
  }
  bpe.keys_.assign(std::bit_ceil(merges.size() * 2 + 2), kFree);
  bpe.joined_.resize(bpe.keys_.size());
  const size_t mask = bpe.keys_.size() - 1;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto [left, right] = merges[rank];
    const std::string whole =
        tokens[static_cast<size_t>(left)] + tokens[static_cast<size_t>(right)];
    const auto id = bpe.Find(whole);
    if (!id)
      return InvalidArgument(
          fmt::format("merge {} joins two tokens to one that is not in the vocabulary", rank));
    const uint64_t key = PairKey(left, right);
    size_t slot = HashPair(key) & mask;
    while (bpe.keys_[slot] != kFree && bpe.keys_[slot] != key) slot = (slot + 1) & mask;
    bpe.keys_[slot] = key;  // of two equal merges the later one counts, as in `tokenizers`
    bpe.joined_[slot] = {static_cast<uint32_t>(rank), *id};
  }
  bpe.encodes_to_ = std::make_unique<std::atomic<uint8_t>[]>(tokens.size() + 1);
  return bpe;
}

std::optional<int32_t> Bpe::Find(std::string_view bytes) const {
  const size_t mask = words_.size() - 1;
  for (size_t slot = HashBytes(bytes) & mask; words_[slot] >= 0; slot = (slot + 1) & mask) {
    const auto id = static_cast<size_t>(words_[slot]);
    const size_t size = begins_[id + 1] - begins_[id];
    if (size == bytes.size() && std::memcmp(arena_.data() + begins_[id], bytes.data(), size) == 0)
      return words_[slot];
  }
  return std::nullopt;
}

const Bpe::Joined* Bpe::FindMerge(int32_t left, int32_t right) const {
  const uint64_t key = PairKey(left, right);
  const size_t mask = keys_.size() - 1;
  for (size_t slot = HashPair(key) & mask; keys_[slot] != kFree; slot = (slot + 1) & mask)
    if (keys_[slot] == key) return &joined_[slot];
  return nullptr;
}

void Bpe::Encode(std::string_view piece, std::vector<int32_t>* ids) const {
  if (piece.empty()) return;
  if (piece.size() == 1) {
    ids->push_back(byte_ids_[static_cast<uint8_t>(piece[0])]);
    return;
  }
  const auto whole = Find(piece);
  if (whole) {
    // Relaxed: every thread that computes it computes the same.
    const uint8_t known =
        ignore_merges_ ? uint8_t{kItself}
                       : encodes_to_[static_cast<size_t>(*whole)].load(std::memory_order_relaxed);
    if (known == kItself) {
      ids->push_back(*whole);
      return;
    }
  }
  const size_t before = ids->size();
  if (piece.size() <= kShort_bytes)
    EncodeShort(piece, ids);
  else
    EncodeLong(piece, ids);
  if (whole) {
    const bool itself = ids->size() == before + 1 && ids->back() == *whole;
    encodes_to_[static_cast<size_t>(*whole)].store(itself ? kItself : kOther,
                                                   std::memory_order_relaxed);
  }
}

void Bpe::EncodeShort(std::string_view piece, std::vector<int32_t>* ids) const {
  int32_t id[kShort_bytes];
  Joined pair[kShort_bytes];  // pair[i]: what id[i] and id[i + 1] become
  size_t count = piece.size();
  const auto look_up = [&](size_t i) {
    const Joined* found = FindMerge(id[i], id[i + 1]);
    pair[i] = found == nullptr ? Joined{kNoMerge, 0} : *found;
  };
  for (size_t i = 0; i < count; ++i) id[i] = byte_ids_[static_cast<uint8_t>(piece[i])];
  for (size_t i = 0; i + 1 < count; ++i) look_up(i);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i)
      if (pair[i].rank < pair[best].rank) best = i;
    if (pair[best].rank == kNoMerge) break;
    id[best] = pair[best].id;
    --count;
    std::copy(id + best + 2, id + count + 1, id + best + 1);
    if (best + 1 < count) {
      std::copy(pair + best + 2, pair + count, pair + best + 1);
      look_up(best);
    }
    if (best > 0) look_up(best - 1);
  }
  ids->insert(ids->end(), id, id + count);
}

void Bpe::EncodeLong(std::string_view piece, std::vector<int32_t>* ids) const {
  struct Symbol {
    int32_t id;
    size_t previous;
    size_t next;
    bool alive;
  };
  struct Candidate {
    uint32_t rank;
    size_t at;
    int32_t left;
    int32_t right;
    int32_t id;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  const size_t count = piece.size();
  std::vector<Symbol> symbols(count);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto propose = [&](size_t at) {
    const size_t next = symbols[at].next;
    if (next >= count) return;
    if (const Joined* found = FindMerge(symbols[at].id, symbols[next].id))
      queue.push({found->rank, at, symbols[at].id, symbols[next].id, found->id});
  };
  for (size_t i = 0; i < count; ++i)
    symbols[i] = {byte_ids_[static_cast<uint8_t>(piece[i])], i - 1, i + 1, true};
  for (size_t i = 0; i < count; ++i) propose(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[best.at];
    if (!left.alive || left.id != best.left || left.next >= count ||
        symbols[left.next].id != best.right)
      continue;  // one of the two was merged away meanwhile
    Symbol& right = symbols[left.next];
    right.alive = false;
    left.id = best.id;
    left.next = right.next;
    if (left.next < count) symbols[left.next].previous = best.at;
    propose(best.at);
    if (left.previous < count) propose(left.previous);
  }
  for (size_t i = 0; i < count; i = symbols[i].next) ids->push_back(symbols[i].id);
}

}  // namespace davinci::text
