// The diversity filter: which rows of many form a data set. Pure and seeded: the same rows, options
// and evaluation texts give the same choice in any order of the rows.
//
// Rows are considered in the order of SHA-256(seed, id). A row is dropped by the first rule that
// holds:
//   contaminated      its reference resembles an evaluation reference: estimated Jaccard similarity
//                     >= contaminated, names that are not behind a dot counted as one token, so
//                     that renaming variables does not hide it
//   duplicate         a row considered before has the same content (row.h, ContentHash)
//   near_skill        summary rows: a skill proposed in a row considered before is at least
//                     near_skill alike (exact Jaccard of shingles, skill/minhash.h)
//   reference_cap     per_reference rows of its agent were taken for its group of references.
//                     References form groups: one joins the group of the most similar earlier one
//                     with similarity >= near_reference (numbers counted as one token), else founds
//                     one, in the order of their rows
//   cell_cap          per_cell rows of its agent were taken for its cell (family x speedup bucket)
// Rows without a reference are no group: only duplicate, near_skill and cell_cap apply to them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/sftdata/row.h"

namespace davinci::sftdata {

struct DiversityOptions {
  uint64_t seed = 0;
  double contaminated = 0.8;
  double near_reference = 0.9;
  double near_skill = 0.7;
  int per_reference = 16;  // 0: no cap
  int per_cell = 0;        // 0: no cap
};

// What the filter needs of a row, so that rows themselves need not be held.
struct RowFacts {
  std::string id;       // unique
  std::string content;  // ContentHash
  rl::AgentKind agent = rl::AgentKind::kPolicy;
  std::string family;
  std::optional<double> speedup;
  std::string reference;            // text
  std::vector<std::string> skills;  // texts of the skills a summary row proposes
};
RowFacts FactsOf(const Row& row);

// "wrong", "<1", "1-1.2", "1.2-1.5", "1.5-2", "2-3", ">=3": the published thresholds.
std::string SpeedupBucket(const std::optional<double>& speedup);

struct DiversityResult {
  std::vector<size_t> kept;       // indices of rows, ascending
  std::vector<int> group;         // of each row: its group of references, -1 without a reference
  std::vector<std::string> rule;  // of each row: why it was dropped; "": kept
};

DiversityResult ChooseDiverse(const std::vector<RowFacts>& rows,
                              const std::vector<std::string>& evaluation,
                              const DiversityOptions& options);

// Counts per agent: {"policy": {"rows": …, "kept": …, "dropped": {rule: …},
// "cells": {"softmax": {"1.5-2": …}}}}; cells count what was kept.
OrderedJson CountsOf(const std::vector<RowFacts>& rows, const DiversityResult& result);

// A share of the groups, by seed, for evaluation: true for rows that are held out. Rows of one
// group, and rows of one task, stay together; rows without a reference are never held out.
std::vector<bool> HoldOut(const std::vector<RowFacts>& rows, const DiversityResult& result,
                          double share, uint64_t seed);

}  // namespace davinci::sftdata
