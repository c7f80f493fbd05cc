// Which stretch of the cache belongs to which request, and what finished requests left there.
//
// A request gets one stretch for its prompt and its answer. What it computed stays behind it until
// the room is needed, so that a later prompt that begins with the same tokens copies instead of
// computing. Matching is by tokens. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "davinci/model/engine.h"

namespace davinci::model {

class SegmentPool {
 public:
  struct Segment {
    int64_t start = 0;
    int64_t size = 0;
    std::vector<TokenId> tokens;  // whose keys and values are there, from `start`
    // Of them, those another request may take over.
    int64_t num_shareable = 0;
    bool in_use = true;
    int64_t last_use = 0;
  };

  explicit SegmentPool(int64_t size);

  // A stretch of `size` positions; drops the leftovers that were used longest ago until there is
  // one. Nothing: those in use leave no room. Never drops `keep`. The pointer is valid until Drop()
  // or until a released segment is dropped for room.
  Segment* Allocate(int64_t size, const Segment* keep = nullptr);
  // The request is finished; what it left may be dropped from now on.
  void Release(Segment* segment);
  void Clear();  // all of them

  struct Match {
    Segment* segment = nullptr;
    int64_t length = 0;
  };
  // The segment with the longest common prefix, at most `limit` tokens of it. Counts as
  // a use.
  Match LongestPrefix(std::span<const TokenId> tokens, int64_t limit);

  int64_t size() const { return size_; }
  int64_t num_in_use() const;  // positions

 private:
  std::optional<int64_t> FindRoom(int64_t size) const;
  void Drop(Segment* segment);

  const int64_t size_;
  int64_t clock_ = 0;
  std::map<int64_t, std::unique_ptr<Segment>> segments_;  // by start
};

}  // namespace davinci::model
