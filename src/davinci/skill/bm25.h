// Bm25Index: ranked retrieval over skills, entirely in memory.
//
//   score(q, d) = sum over distinct terms t of q:
//                 idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / avgdl))
//   idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))
//
// (Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework"; the "1 +" is Lucene's and
// keeps idf above zero, so that a library of one or two skills can be searched.) Differences from
// rank_bm25's BM25Okapi, which the golden test measures: that one takes the logarithm without the
// 1, replaces negative values by 0.25 of the mean idf, and counts a term as often as the query
// repeats it; it breaks ties by an unstable sort.
//
// Results do not depend on the order in which documents were added: scores are summed in a fixed
// order of terms, and equal scores are ordered by document name.
//
// Adding or removing a document touches only the postings of its own terms. Threads: Search() and
// the const methods may run concurrently; Add() and Remove() need exclusive access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace davinci::skill {

struct Bm25Options {
  double k1 = 1.5;  // saturation of repeated terms; larger = repetition counts more
  double b = 0.75;  // 0: length does not matter, 1: fully normalised
};

class Bm25Index {
 public:
  struct Hit {
    std::string name;
    double score = 0;
  };

  explicit Bm25Index(Bm25Options options = {}) : options_(options) {}

  // Adds document `name`, or replaces it.
  void Add(std::string_view name, const std::vector<std::string>& tokens);
  // Nothing happens when there is no such document.
  void Remove(std::string_view name);

  // The `k` best documents with at least one term of the query, best first.
  std::vector<Hit> Search(const std::vector<std::string>& query, size_t k) const;

  size_t size() const { return slot_of_name_.size(); }
  bool contains(std::string_view name) const;

 private:
  using Slot = uint32_t;  // documents are numbered as they come; numbers are not used again until
                          // Compact()
  struct Posting {
    Slot slot;
    uint32_t count;
  };
  struct Term {
    std::string text;
    std::vector<Posting> postings;  // by slot; may name removed documents
    uint32_t num_documents = 0;     // living ones
    uint32_t max_count = 0;         // in one document; may be that of a removed one
  };
  struct Document {
    std::string name;
    std::vector<uint32_t> terms;
    uint32_t num_tokens = 0;
  };
  struct QueryTerm;

  void Compact();
  std::vector<QueryTerm> Resolve(const std::vector<std::string>& query) const;

  Bm25Options options_;
  std::unordered_map<std::string, Slot> slot_of_name_;
  std::unordered_map<std::string, uint32_t> term_ids_;
  std::vector<Term> terms_;
  std::vector<Document> documents_;  // by slot
  std::vector<uint32_t> lengths_;  // by slot: num_tokens, apart from the rest for the cache's sake
  uint64_t num_tokens_ = 0;        // of living documents
  size_t num_dead_ = 0;
};

}  // namespace davinci::skill
