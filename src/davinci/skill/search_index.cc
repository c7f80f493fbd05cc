#include "davinci/skill/search_index.h"

#include <algorithm>
#include <mutex>
#include <tuple>

#include "davinci/skill/retention.h"
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

Status SearchIndex::CatchUpFor(const Audience& audience, const RecordStore& store,
                               int64_t sequence) {
  std::unique_lock lock(mutex_);
  View& view = views_[audience];
  if (sequence <= view.sequence) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const auto changes, store.ChangedAfter(view.sequence));
  for (const RecordStore::Change& change : changes) {
    view.index.Remove(change.name);
    view.entries.erase(change.name);
    if (!change.record || change.record->state != SkillState::kActive) continue;
    const Fit fit = FitOf(*change.record, audience);
    if (fit == Fit::kOtherTarget) continue;
    view.index.Add(change.name, TokenizeSkill(change.record->skill));
    view.entries[change.name] = {fit, IsProvenFor(*change.record, audience),
                                 change.record->skill.scope == "general", Worth(*change.record)};
  }
  view.sequence = sequence;
  return Status::Ok();
}

std::vector<Bm25Index::Hit> SearchIndex::SearchFor(const Audience& audience, std::string_view query,
                                                   size_t k) const {
  std::shared_lock lock(mutex_);
  const auto found = views_.find(audience);
  if (found == views_.end()) return {};
  const View& view = found->second;
  // Sorted by what comes first: tier, then within a tier.
  using Key = std::tuple<int, double, bool, bool, double, std::string>;
  std::vector<std::pair<Key, Bm25Index::Hit>> all;
  std::map<std::string, double> scores;
  for (Bm25Index::Hit& hit : view.index.Search(Tokenize(query), view.entries.size()))
    scores.emplace(std::move(hit.name), hit.score);
  for (const auto& [name, entry] : view.entries) {
    const auto at = scores.find(name);
    const bool match = at != scores.end();
    const double score = match ? at->second * (entry.proven ? kProvenBonus : 1) : 0;
    const int tier = (entry.fit == Fit::kFits ? 0 : 2) + (match ? 0 : 1);
    all.push_back(
        {{tier, -score, !entry.general, !entry.proven, -entry.worth, name}, {name, score}});
  }
  const size_t num_hits = std::min(k, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(num_hits), all.end(),
                    [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Bm25Index::Hit> hits;
  for (size_t i = 0; i < num_hits; ++i) hits.push_back(std::move(all[i].second));
  return hits;
}

}  // namespace davinci::skill
