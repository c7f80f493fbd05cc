// The loop of `davinci sft`: rows -> examples -> shuffled updates -> checkpoints.
//
// The run folder holds recipe.toml (resolved), log.jsonl, tensorboard/, checkpoints/, answers/.
// Started again on the same folder it continues after the newest checkpoint and ends with the same
// bits (deterministic mode, same machine, threads and ranks).
//
// With several ranks every rank calls RunSft and gets the same status: the rows of an update are
// divided over them, and the losses and gradients are sums over all. The number of ranks may change
// between two starts. Rank 0 owns the run folder, which all must see. A rank that fails alone ends
// all (comm::RankGroup::Abort).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"
#include "davinci/trainer/answers.h"
#include "davinci/trainer/settings.h"

namespace davinci::trainer {

struct SftRun {
  SftSettings settings;
  std::string resolved;  // TOML
  std::filesystem::path folder;
  std::function<void(const std::string&)> say;  // one line for people; rank 0's
  comm::RankGroup* ranks = nullptr;             // nullptr: one rank
  AnswerTasks answer;                           // rank 0's; null: evaluation.tasks are left out
};

struct SftOutcome {
  int64_t updates = 0;  // of the whole run
  double first_loss = 0;
  double last_loss = 0;
  std::filesystem::path checkpoint;  // the last one
};

// Examples, updates, passes, memory and time, without opening the library. A text of lines.
Result<std::string> DescribeSft(const SftSettings& settings, int ranks = 1);

// Cancelled after `cancel` fired: a checkpoint of the last finished update has been written.
Result<SftOutcome> RunSft(const SftRun& run, const CancelToken& cancel);

}  // namespace davinci::trainer
