#include "davinci/skill/bm25.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace davinci::skill {
namespace {

// Dead documents are skipped while they are few; removing them for good costs one pass.
constexpr size_t kMinDeadForCompaction = 64;
constexpr uint32_t kDead = ~uint32_t{0};  // length of a removed document

}  // namespace

struct Bm25Index::QueryTerm {
  const Term* term;
  double idf;
  double bound;  // no document gets more than this from the term
};

bool Bm25Index::contains(std::string_view name) const {
  return slot_of_name_.contains(std::string(name));
}

void Bm25Index::Add(std::string_view name, const std::vector<std::string>& tokens) {
  Remove(name);
  const auto slot = static_cast<Slot>(documents_.size());
  Document document;
  document.name = name;
  document.num_tokens = static_cast<uint32_t>(tokens.size());
  for (const std::string& token : tokens) {
    const auto [at, is_new] = term_ids_.try_emplace(token, static_cast<uint32_t>(terms_.size()));
    if (is_new) terms_.push_back({token, {}, 0, 0});
    Term& term = terms_[at->second];
    if (!term.postings.empty() && term.postings.back().slot == slot) {
      term.max_count = std::max(term.max_count, ++term.postings.back().count);
      continue;
    }
    term.postings.push_back({slot, 1});
    term.max_count = std::max(term.max_count, 1u);
    ++term.num_documents;
    document.terms.push_back(at->second);
  }
  num_tokens_ += document.num_tokens;
  lengths_.push_back(document.num_tokens);
  documents_.push_back(std::move(document));
  slot_of_name_.emplace(name, slot);
}

void Bm25Index::Remove(std::string_view name) {
  const auto found = slot_of_name_.find(std::string(name));
  if (found == slot_of_name_.end()) return;
  Document& document = documents_[found->second];
  for (const uint32_t id : document.terms) --terms_[id].num_documents;
  num_tokens_ -= document.num_tokens;
  document = {};
  lengths_[found->second] = kDead;
  slot_of_name_.erase(found);
  ++num_dead_;
  if (num_dead_ > std::max(kMinDeadForCompaction, slot_of_name_.size() / 4)) Compact();
}

// Renumbers the living documents in their old order and forgets unused terms.
void Bm25Index::Compact() {
  constexpr Slot kGone = ~Slot{0};
  std::vector<Slot> new_slot(documents_.size(), kGone);
  std::vector<Document> documents;
  for (size_t slot = 0; slot < documents_.size(); ++slot) {
    if (lengths_[slot] == kDead) continue;
    new_slot[slot] = static_cast<Slot>(documents.size());
    documents.push_back(std::move(documents_[slot]));
  }
  std::vector<Term> terms;
  std::vector<uint32_t> new_term(terms_.size());
  term_ids_.clear();
  for (size_t id = 0; id < terms_.size(); ++id) {
    Term& term = terms_[id];
    if (term.num_documents == 0) continue;
    std::erase_if(term.postings, [&](const Posting& p) { return new_slot[p.slot] == kGone; });
    for (Posting& posting : term.postings) posting.slot = new_slot[posting.slot];
    new_term[id] = static_cast<uint32_t>(terms.size());
    term_ids_.emplace(term.text, new_term[id]);
    terms.push_back(std::move(term));
  }
  terms_ = std::move(terms);
  documents_ = std::move(documents);
  lengths_.clear();
  slot_of_name_.clear();
  for (size_t slot = 0; slot < documents_.size(); ++slot) {
    for (uint32_t& id : documents_[slot].terms) id = new_term[id];
    lengths_.push_back(documents_[slot].num_tokens);
    slot_of_name_.emplace(documents_[slot].name, static_cast<Slot>(slot));
  }
  num_dead_ = 0;
}

// Strongest term first: with the same query the same order for every document, so that a sum never
// depends on how it was come by.
std::vector<Bm25Index::QueryTerm> Bm25Index::Resolve(const std::vector<std::string>& query) const {
  std::vector<uint32_t> ids;
  for (const std::string& token : query)
    if (const auto found = term_ids_.find(token); found != term_ids_.end())
      ids.push_back(found->second);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const auto n = static_cast<double>(slot_of_name_.size());
  std::vector<QueryTerm> terms;
  for (const uint32_t id : ids) {
    const auto df = static_cast<double>(terms_[id].num_documents);
    if (df == 0) continue;
    const double idf = std::log(1.0 + (n - df + 0.5) / (df + 0.5));
    // A document of no length, with as many repetitions as any.
    const auto most = static_cast<double>(terms_[id].max_count);
    const double bound = idf * most * (options_.k1 + 1) / (most + options_.k1 * (1 - options_.b));
    terms.push_back({&terms_[id], idf, bound});
  }
  std::sort(terms.begin(), terms.end(), [](const QueryTerm& a, const QueryTerm& b) {
    return a.idf != b.idf ? a.idf > b.idf : a.term->text < b.term->text;
  });
  return terms;
}

// Term at a time, with early termination that keeps the result exact: once the terms that are left
// cannot lift a new document among the k best, only documents already met are completed, and of
// those only the ones that can still get there.
std::vector<Bm25Index::Hit> Bm25Index::Search(const std::vector<std::string>& query,
                                              size_t k) const {
  const std::vector<QueryTerm> terms = Resolve(query);
  if (terms.empty() || k == 0) return {};
  const double average =
      static_cast<double>(num_tokens_) / static_cast<double>(slot_of_name_.size());
  const double k1_plus_1 = options_.k1 + 1;
  const double fixed = options_.k1 * (1 - options_.b);
  const double per_token = options_.k1 * options_.b / average;
  std::vector<double> bound_after(terms.size() + 1, 0.0);  // what terms from i on can still give
  for (size_t i = terms.size(); i-- > 0;) bound_after[i] = bound_after[i + 1] + terms[i].bound;

  std::vector<double> scores(documents_.size(), 0.0);
  std::vector<Slot> met;
  // The k-th best score so far is a lower bound of the k-th best in the end, and scores only grow:
  // those below the last threshold need not be looked at again.
  double threshold = 0;
  std::vector<double> best;
  const auto raise_threshold = [&] {
    best.clear();
    for (const Slot slot : met)
      if (scores[slot] >= threshold) best.push_back(scores[slot]);
    if (best.size() < k) return;
    std::nth_element(best.begin(), best.begin() + static_cast<ptrdiff_t>(k - 1), best.end(),
                     std::greater<>());
    // Sums in floating point may exceed a bound by their rounding.
    threshold = std::max(threshold, best[k - 1] * (1 - 1e-9));
  };
  const auto give = [&](const QueryTerm& term, const Posting& posting) {
    const auto tf = static_cast<double>(posting.count);
    scores[posting.slot] += term.idf * tf * k1_plus_1 /
                            (tf + fixed + per_token * static_cast<double>(lengths_[posting.slot]));
  };

  size_t next = 0;
  size_t num_given = 0;  // since the threshold was last looked at
  for (; next < terms.size(); ++next) {
    if (num_given >= met.size() / 4) {
      raise_threshold();
      num_given = 0;
    }
    if (bound_after[next] < threshold) break;
    num_given += terms[next].term->postings.size();
    for (const Posting& posting : terms[next].term->postings) {
      if (lengths_[posting.slot] == kDead) continue;
      if (scores[posting.slot] == 0.0) met.push_back(posting.slot);
      give(terms[next], posting);
    }
  }
  for (; next < terms.size(); ++next) {
    std::erase_if(met, [&](Slot slot) { return scores[slot] + bound_after[next] < threshold; });
    const std::vector<Posting>& postings = terms[next].term->postings;
    if (met.size() * 16 < postings.size()) {
      for (const Slot slot : met) {
        const auto at = std::lower_bound(postings.begin(), postings.end(), slot,
                                         [](const Posting& p, Slot s) { return p.slot < s; });
        if (at != postings.end() && at->slot == slot) give(terms[next], *at);
      }
    } else {
      for (const Posting& posting : postings)
        if (scores[posting.slot] > 0.0) give(terms[next], posting);
    }
    raise_threshold();
  }

  const size_t num_hits = std::min(k, met.size());
  const auto better = [&](Slot a, Slot b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : documents_[a].name < documents_[b].name;
  };
  std::partial_sort(met.begin(), met.begin() + static_cast<ptrdiff_t>(num_hits), met.end(), better);
  std::vector<Hit> hits;
  for (size_t i = 0; i < num_hits; ++i) hits.push_back({documents_[met[i]].name, scores[met[i]]});
  return hits;
}

}  // namespace davinci::skill
