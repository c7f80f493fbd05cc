// Held-out evaluations of a training: what a checkpoint answers to the tasks of train.held_out.
//
//   RUN/evaluations/step-00000060.jsonl   the rollouts, one a line: {"split", "trajectory"},
//   without
//                                         texts; rollout 0 is greedy, the others are samples
//   RUN/evaluations/step-00000060.json    their scores, "davinci.score/1" with "step" and
//                                         "left_out": {TASK: why the judge refuses it}
//
// The second file is written last: where it is, the evaluation is complete. score/held_out.h has
// the metrics.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/rollout/step.h"
#include "davinci/score/held_out.h"
#include "davinci/training/train_recipe.h"
#include "davinci/training/train_tasks.h"

namespace davinci::training {

// Rollouts by split.
using HeldOutLog = std::map<std::string, std::vector<Trajectory>>;

// True where the checkpoint of `step` is due: the first, every `eval_every`-th, and the last.
bool EvaluationDue(const TrainRecipe& recipe, int step);

// Settings of the greedy rollout of each task, and of the samples: those of training with fixed
// seeds, nothing learned, and one selection without the null scheme where there are schemes.
rollout::StepSettings GreedySettings(const TrainRecipe& recipe);
rollout::StepSettings SampleSettings(const TrainRecipe& recipe);

// Adds the rollouts of one step. `first_rollout`: the number that its rollout 0 gets.
void AddRollouts(const std::vector<rollout::TaskOutcome>& outcomes,
                 const std::vector<TrainTask>& tasks, int first_rollout, HeldOutLog* log);

// Tasks with rollouts.
size_t NumTasks(const HeldOutLog& log);

score::ScoreReport ScoreOf(const HeldOutLog& log);
std::map<std::string, score::ScoreInput> ScoreInputsOf(const HeldOutLog& log);

// fast_1 and correct of greedy answers, as the means over the splits; higher is better.
struct HeldOutScore {
  double fast_1 = 0;
  double correct = 0;
  auto operator<=>(const HeldOutScore&) const = default;
};
HeldOutScore GreedyScore(const score::ScoreReport& report);

// "held_out" of a line of log.jsonl: {"greedy": {"fast_1": {SPLIT: value}}, …}.
nlohmann::ordered_json LogFigures(const score::ScoreReport& report);
// A line for people, and one for what is left out.
std::string EvaluationText(int step, const score::ScoreReport& report, const LeftOut& left_out);

bool HasEvaluation(const std::filesystem::path& run, int64_t step);
Status WriteEvaluation(const std::filesystem::path& run, int64_t step, const HeldOutLog& log,
                       const LeftOut& left_out, const score::ScoreReport& report);
// NotFound names the steps that have one.
Result<HeldOutLog> ReadEvaluation(const std::filesystem::path& run, int64_t step);
// Of an evaluation that is complete.
Result<LeftOut> ReadLeftOut(const std::filesystem::path& run, int64_t step);
// Steps with an evaluation, ascending.
std::vector<int64_t> ListEvaluations(const std::filesystem::path& run);

}  // namespace davinci::training
