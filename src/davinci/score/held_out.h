// Held-out evaluation of a model: of each task one greedy rollout and some that are sampled. Tasks
// and seeds are the same for every model, so that two of them are compared task by task
// (comparison.h). Pure.
//
// Rollout 0 of a task is the greedy one, rollouts 1 to k are the samples. A rollout answers with
// its best turn; "best of k" is the best of a task's samples. A decoy is wrong.
#pragma once

#include <map>
#include <string>

#include "davinci/score/protocol.h"

namespace davinci::score {

// For greedy answers and for the best of k: correct, fast_1, fast_1.2, geometric mean of speedups.
// Protocols() does not have it: other logs have no greedy rollout.
Protocol HeldOutProtocol();

// One section for each split, and one for all tasks before them where there are several. Intervals
// are over tasks alone: of a task's best of k there is one drawing.
ScoreReport ScoreHeldOut(const std::map<std::string, ScoreInput>& splits,
                         const BootstrapOptions& options = {});
inline constexpr char kAllSplits[] = "all tasks";

// The inputs of all splits as one; task ids are unique.
ScoreInput AllOf(const std::map<std::string, ScoreInput>& splits);

}  // namespace davinci::score
