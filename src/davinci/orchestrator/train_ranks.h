// `davinci train` as several processes: rank 0 samples, judges, writes the run folder and says what
// is trained; every rank computes its share of the log-probabilities and of the update.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"
#include "davinci/orchestrator/train_sequences.h"

namespace davinci::orchestrator {

// Whether this process samples, and writes the run folder.
bool Leads(const comm::RankGroup* ranks);

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

// Called by all ranks: what rank 0 has, in pieces of bounded size.
Result<std::string> FromRank0(comm::RankGroup* ranks, std::string text);
// Samples and units; figures stay with rank 0.
Status ShareBatch(comm::RankGroup* ranks, TrainingBatch* batch);

}  // namespace davinci::orchestrator
