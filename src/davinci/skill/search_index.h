// The index behind Library::Search: the active skills of a RecordStore, brought up to date by
// following the events. Internally synchronised: searches run concurrently, updates alone.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "davinci/skill/bm25.h"
#include "davinci/skill/record_store.h"

namespace davinci::skill {

class SearchIndex {
 public:
  // Takes in what changed up to event `sequence`. The caller holds the connection of `store`.
  Status CatchUp(const RecordStore& store, int64_t sequence);
  std::vector<Bm25Index::Hit> Search(std::string_view query, size_t k) const;

 private:
  mutable std::shared_mutex mutex_;  // guards everything below
  Bm25Index index_;
  int64_t sequence_ = 0;
};

}  // namespace davinci::skill
