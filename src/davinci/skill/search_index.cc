#include "davinci/skill/search_index.h"

#include <mutex>

#include "davinci/skill/tokenizer.h"

namespace davinci::skill {

Status SearchIndex::CatchUp(const RecordStore& store, int64_t sequence) {
  std::unique_lock lock(mutex_);
  if (sequence <= sequence_) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const auto changes, store.ChangedAfter(sequence_));
  for (const RecordStore::Change& change : changes) {
    if (change.record && change.record->state == SkillState::kActive) {
      index_.Add(change.name, TokenizeSkill(change.record->skill));
    } else {
      index_.Remove(change.name);
    }
  }
  sequence_ = sequence;
  return Status::Ok();
}

std::vector<Bm25Index::Hit> SearchIndex::Search(std::string_view query, size_t k) const {
  std::shared_lock lock(mutex_);
  return index_.Search(Tokenize(query), k);
}

}  // namespace davinci::skill
