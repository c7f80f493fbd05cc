// Byte-pair encoding over bytes: the merges of a vocabulary, and the tokens of one piece of text.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::text {

struct Merge {
  int32_t left = 0;
  int32_t right = 0;
};

class Bpe {
 public:
  // `tokens` by id, as bytes; "" where an id cannot be produced. `merges` best first.
  // InvalidArgument: a byte without a token, a merge whose joined bytes are not a token. Of equal
  // tokens the first id counts.
  static Result<Bpe> Make(const std::vector<std::string>& tokens, const std::vector<Merge>& merges,
                          bool ignore_merges);

  // Appends the ids of `piece`: merges are applied best first, of equal ones the leftmost first.
  // Any thread.
  void Encode(std::string_view piece, std::vector<int32_t>* ids) const;
  // The id of the token with these bytes.
  std::optional<int32_t> Find(std::string_view bytes) const;

 private:
  // What a piece that is itself a token encodes to is asked often: known after the first time.
  enum : uint8_t { kUnknown, kItself, kOther };
  struct Joined {
    uint32_t rank = 0;
    int32_t id = 0;
  };

  const Joined* FindMerge(int32_t left, int32_t right) const;
  void EncodeShort(std::string_view piece, std::vector<int32_t>* ids) const;
  void EncodeLong(std::string_view piece, std::vector<int32_t>* ids) const;

  std::string arena_;             // the tokens' bytes, one after the other
  std::vector<uint32_t> begins_;  // by id, into arena_; one more than there are ids
  std::vector<int32_t> words_;    // open addressing by the hash of the bytes; -1: free
  std::vector<uint64_t> keys_;    // open addressing by left and right; all ones: free
  std::vector<Joined> joined_;
  int32_t byte_ids_[256] = {};
  bool ignore_merges_ = false;
  std::unique_ptr<std::atomic<uint8_t>[]> encodes_to_;
};

}  // namespace davinci::text
