// TrainRecipe: the settings of `davinci train`: those of a rollout step (runs/run_recipe.h), of
// model and optimiser (trainer/settings.h), and of the algorithm between them.
// recipes/train/davinci.toml lists what training adds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/config/recipe.h"
#include "davinci/rl/advantage.h"
#include "davinci/rl/collapse_monitor.h"
#include "davinci/rl/group_filter.h"
#include "davinci/rl/policy_loss.h"
#include "davinci/rl/rejection.h"
#include "davinci/rl/returns.h"
#include "davinci/rl/summary_reward.h"
#include "davinci/rl/turn_reward.h"
#include "davinci/runs/run_recipe.h"
#include "davinci/trainer/settings.h"

namespace davinci::training {

enum class GroupBy {
  kTaskTurn,  // rollouts of a task at the same turn, all schemes pooled (TRLOO)
  kTask,      // all turns of all rollouts of a task (Kevin)
};
enum class MismatchRule { kNone, kReject, kWeigh };  // MRS, TIS

// PPO: with advantage.kind "gae" the policy's advantages come from a second model that learns the
// value of every state (CUDA Agent, arXiv 2602.24286).
struct CriticSettings {
  bool enabled = false;
  double lambda = 0.95;
  double learning_rate = 6e-6;  // the highest; the schedule is the policy's
  int updates_per_step = 1;     // each over all tokens of the step
  double value_clip = 0.2;      // 0: none
  bool whiten = true;           // the step's advantages to mean 0 and deviation 1
  bool pretrain = true;         // the critic alone is trained until its gate opens
  double gate = 0.5;            // explained variance that opens it …
  int gate_steps = 3;           // … as the mean over so many steps
};

// Rows of supervised training that are learned along (train_replay.h).
struct ReplaySettings {
  std::vector<std::string> rows;  // folders or files (trainer/row_files.h); empty: none
  int64_t examples = 64;          // of an update
  double weight = 1;              // of their mean loss a token
};

struct TrainAlgorithm {
  rl::RewardOptions reward;
  rl::ReturnKind returns = rl::ReturnKind::kDiscountedSum;
  double gamma = 1;
  rl::TurnMaskRule turn_mask = rl::TurnMaskRule::kPenaliseBreaking;
  double break_penalty = -0.5;
  rl::AdvantageKind advantage = rl::AdvantageKind::kTrloo;
  GroupBy group_by = GroupBy::kTaskTurn;
  bool cross_scheme_scaling = true;
  rl::PerRollout selection_value = rl::PerRollout::kBest;
  bool null_in_baseline = true;
  double policy_weight = 1;
  double selection_weight = 0.3;
  double summary_weight = 0.5;
  MismatchRule mismatch = MismatchRule::kReject;
  rl::MismatchOptions band;
  double importance_cap = 2;  // kWeigh
  bool profile_rejection = true;
  rl::ProfilingOptions profile;
  rl::GroupFilterOptions groups;
  rl::ClipOptions clip;
  rl::Aggregation aggregation = rl::Aggregation::kSequenceMeanTokenSum;
  double divisor = 1000;
  rl::OverlongRule overlong = rl::OverlongRule::kKeep;
  int64_t overlong_tokens = 1024;  // kSoftPenalty: it begins so many tokens below the limit
  CriticSettings critic;
  rl::CollapseOptions collapse;
};

struct TrainRecipe {
  runs::RunRecipe run;
  trainer::CommonSettings common;
  TrainAlgorithm algorithm;
  ReplaySettings replay;
  std::vector<std::string> tasks;  // files, folders, JSONL (train_tasks.h)
  // Tasks that the first, every `eval_every`-th (0: none) and the last checkpoint answer, and that
  // are never trained on: greedily, and in `eval_samples` samples (train_evaluation.h).
  std::vector<std::string> held_out;
  int eval_every = 0;
  int eval_samples = 4;
  std::string eval_protocol;  // "": the turns', and never "staged"
  // Where the model is sampled ("cpu", "cuda:N"; one engine each). Empty: the devices of the ranks
  // of rank 0's machine, and of one process its own.
  std::vector<std::string> sample_devices;
  int steps = 300;
  int tasks_per_step = 16;
  // Dynamic sampling: a step rolls out further batches of as many tasks, so many in all at most, as
  // long as fewer than `tasks_per_step` tasks (or groups.max_groups) have rollouts that differ.
  int max_batches = 1;
  int updates_per_step = 1;  // the step's sequences in so many parts, one update each
  // Rollouts of later steps are sampled and judged while a step is trained, by weights that are at
  // most so many steps old; 0: sampling and training alternate.
  int max_staleness = 0;
};

// Defaults of the rollout differ from those of optimize where training needs it: append-only
// conversations, log-probabilities, no stop rules, no respent rollouts. All problems at once.
Result<TrainRecipe> ReadTrainRecipe(const config::Recipe& recipe, std::string* resolved);

}  // namespace davinci::training
