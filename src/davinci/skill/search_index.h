// The index behind Library::Search and SearchFor: the active skills of a RecordStore, brought up to
// date by following the events. One index for all, and one per audience that was asked for, which
// holds only what that audience can use. Internally synchronised: searches run concurrently,
// updates alone.
#pragma once

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/skill/audience.h"
#include "davinci/skill/bm25.h"
#include "davinci/skill/record_store.h"

namespace davinci::skill {

class SearchIndex {
 public:
  // Takes in what changed up to event `sequence`. The caller holds the connection of `store`.
  Status CatchUp(const RecordStore& store, int64_t sequence);
  std::vector<Bm25Index::Hit> Search(std::string_view query, size_t k) const;

  Status CatchUpFor(const Audience& audience, const RecordStore& store, int64_t sequence);
  // As Library::SearchFor states. Nothing for an audience that was never caught up for.
  std::vector<Bm25Index::Hit> SearchFor(const Audience& audience, std::string_view query,
                                        size_t k) const;

 private:
  struct Entry {
    Fit fit = Fit::kFits;
    bool proven = false;
    bool general = false;
    double worth = 0;
  };
  struct View {
    Bm25Index index;
    std::map<std::string, Entry> entries;  // what the index holds, by name
    int64_t sequence = 0;
  };

  mutable std::shared_mutex mutex_;  // guards everything below
  Bm25Index index_;
  int64_t sequence_ = 0;
  std::map<Audience, View> views_;
};

}  // namespace davinci::skill
