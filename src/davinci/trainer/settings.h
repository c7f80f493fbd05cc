// What a training recipe says about model, optimiser and logs, common to `sft` and `train`, and how
// it is read. recipes/train/*.toml list the keys with what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davinci/config/recipe.h"
#include "davinci/rl/policy_loss.h"
#include "davinci/trainer/learner.h"

namespace davinci::trainer {

enum class Schedule { kConstant, kLinear, kCosine };

struct ScheduleSettings {
  Schedule kind = Schedule::kCosine;
  double learning_rate = 2e-5;   // the highest
  double warmup_fraction = 0.1;  // of all updates: risen to linearly
  double final_fraction = 0;     // of the highest, at the last update (linear, cosine)
};

// Of update 0 … total - 1.
double LearningRate(const ScheduleSettings& settings, int64_t update, int64_t total);

struct CheckpointSettings {
  int64_t every = 100;  // updates; the last one always has a checkpoint
  int keep_last = 2;
  bool keep_best = true;  // the one with the lowest evaluation loss, where there is an evaluation
};

// The sections [model], [lora], [optimizer], [checkpoint] of a recipe.
struct CommonSettings {
  LearnerOptions learner;
  ScheduleSettings schedule;
  CheckpointSettings checkpoint;
  int64_t tokens_per_pass = 16384;
  int64_t seed = 1;
};
void ReadCommon(config::RecipeReader* reader, CommonSettings* settings);

struct SftSettings {
  CommonSettings common;
  std::vector<std::string> train;  // files of rows (row_files.h, sft_rows.h)
  std::vector<double> weights;     // of each; empty: 1
  std::string eval;                // like one of `train`; "": none
  double curriculum = 0;           // sft_order.h
  int64_t max_tokens = 8192;       // of an example
  std::string overlong = "error";  // "error", "skip": what an example above that is
  int64_t examples_per_update = 64;
  int64_t epochs = 1;
  int64_t max_updates = 0;  // 0: as many as the epochs need
  rl::Aggregation aggregation = rl::Aggregation::kTokenMean;
  double divisor = 1000;  // of the aggregations that divide by a constant
  double policy_weight = 1;
  double selection_weight = 1;
  double summary_weight = 1;
  int64_t eval_every = 0;  // updates; 0: with every checkpoint
  // [evaluation]: held-out task sets that are answered greedily and judged (answers.h).
  std::vector<std::string> tasks;  // folders or JSONL files
  int64_t answer_every = 0;   // updates, which then have a checkpoint; 0: with every checkpoint
  std::string answer_recipe;  // of bench: how the model is asked
};

// All problems at once. `resolved` (may be null): the settings in force as TOML.
Result<SftSettings> ReadSftRecipe(const config::Recipe& recipe, std::string* resolved);

}  // namespace davinci::trainer
