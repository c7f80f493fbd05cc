// The loop of `davinci train`: sample from the model, judge, learn, save, again. The front header
// of this module.
//
//   rank 0 (train_sampling.h)
//     draw tasks -> RunStep (select, roll out, summarise, verify), again while too few groups
//     differ
//     -> flush the library -> samples with advantages
//   every rank
//     -> log-probabilities of the trainer, rejection -> joint update
//     -> checkpoint, from which the next step samples
//
// All ranks run this one program; what rank 0 does alone is TrainRanks::Lead (train_ranks.h).
//
// Recorded work is not done again: killed anywhere, the same call continues after the newest
// checkpoint, and given the recorded units of a step its update and checkpoint have the same bits
// (deterministic mode, same machine and threads).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "davinci/base/status.h"
#include "davinci/rollout/step.h"
#include "davinci/training/train_request.h"

namespace davinci::training {

struct TrainOutcome {
  int steps = 0;  // of the whole run
  int64_t updates = 0;
  std::filesystem::path checkpoint;
  std::optional<int64_t> best;  // the step whose checkpoint did best on the held-out tasks
};

// Called by every rank with the same recipe. Cancelled once `stop` fired; the same call continues.
Result<TrainOutcome> ExecuteTraining(const TrainRequest& request, const TrainParts& parts,
                                     rollout::StopFlag* stop, const TrainEvents& events);

}  // namespace davinci::training
