// `davinci train` as several processes: rank 0 samples, judges, writes the run folder and says what
// is trained; every rank computes its share of the log-probabilities and of the update.
//
// Every rank runs the same program (train_loop.h). What one of them does alone goes through
// TrainRanks, which all of them call, so no call of it can wait for a rank that does not know it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"
#include "davinci/training/train_sequences.h"

namespace davinci::training {

// Whether this process samples, and writes the run folder.
bool Leads(const comm::RankGroup* ranks);

// Collective: every rank makes the same calls in the same order. Without a group the one process is
// rank 0.
class TrainRanks {
 public:
  explicit TrainRanks(comm::RankGroup* group) : group_(group) {}

  bool leads() const { return Leads(group_); }
  comm::RankGroup* group() const { return group_; }

  // Rank 0 does `work`; all ranks get its status.
  Status Lead(const std::function<Status()>& work) const;
  // The text that rank 0's `work` returns.
  Result<std::string> FromLead(const std::function<std::string()>& work) const;
  // InvalidArgument on all ranks where one has another `text` than rank 0, called `what`.
  Status CheckSame(const std::string& text, const std::string& what) const;
  // All ranks do `work`, which may wait for the others; a rank that fails alone ends them all.
  Status Together(const std::function<Status()>& work) const;

 private:
  comm::RankGroup* group_;
};

// Of every rank: which of `members` (indices of `sequences`) it computes. Divided by length, the
// same way on all ranks; without ranks one entry with all.
std::vector<std::vector<size_t>> DivideAmongRanks(const comm::RankGroup* ranks,
                                                  const std::vector<TrainSequence>& sequences,
                                                  std::span<const size_t> members);
// This rank's entry.
const std::vector<size_t>& OwnOf(const comm::RankGroup* ranks,
                                 const std::vector<std::vector<size_t>>& divided);

// Called by all ranks. `values` has those of the sequences that a rank computed; afterwards all
// have all.
Status ShareValues(comm::RankGroup* ranks, const std::vector<TrainSequence>& sequences,
                   const std::vector<std::vector<size_t>>& divided, TokenValues* values);

// Called by all ranks: samples and units; figures stay with rank 0.
Status ShareBatch(comm::RankGroup* ranks, TrainingBatch* batch);

}  // namespace davinci::training
