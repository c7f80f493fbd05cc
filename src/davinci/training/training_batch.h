// From a step's outcomes to what is trained: samples with advantages, in a fixed order. Reads token
// traces from the run's store and decides nothing that is not a function of the recorded units and
// the recipe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/rl/packing.h"
#include "davinci/rollout/step.h"
#include "davinci/rollout/unit_log.h"
#include "davinci/training/train_recipe.h"

namespace davinci::training {

struct TrainUnit {
  // Indices into TrainingBatch::samples, in order of turns: what mismatch is judged as a whole, and
  // what may share a sequence.
  std::vector<size_t> samples;
};

struct TrainingBatch {
  std::vector<rl::TrainingSample> samples;
  std::vector<TrainUnit> units;
  std::map<std::string, double> figures;  // "reward/policy", "correct", … for the log
  int trained_groups = 0;                 // tasks whose rollouts differ
  int64_t without_trace = 0;              // model calls whose backbone knew no tokens
  int64_t bounded = 0;                    // not trained: drawn under a grammar (llm::TokenTrace)
};

Result<TrainingBatch> MakeTrainingBatch(const std::vector<rollout::TaskOutcome>& outcomes,
                                        const TrainRecipe& recipe, rollout::UnitLog& log);

// Says whether a task's rollouts differ so that its policy samples are trained, by their verdicts
// as they are: PaidTurnSettings::is_due. Pure.
bool IsTrained(const std::vector<Trajectory>& trajectories, const TrainAlgorithm& algorithm);

// fast_p of tasks, by p as text ("0", "1", "1.2"): the share with a turn that earns a reward and is
// significantly faster than the baseline, with a median above p. "0" counts what is correct.
std::map<std::string, double> FastPOf(const std::vector<rollout::TaskOutcome>& outcomes);

}  // namespace davinci::training
