// A step's update of the policy: the trainer's own log-probabilities of what was sampled, what a
// mismatch with the sampler's rejects, and the clipped loss over the rest. With several ranks all
// call it with the same batch, each computes its share, and all get the same figures.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/trainer/learner.h"
#include "davinci/training/train_recipe.h"
#include "davinci/training/train_replay.h"
#include "davinci/training/train_sequences.h"

namespace davinci::training {

class PolicyUpdate {
 public:
  // Nothing is owned. One object serves one step. `replay`: learned along; null: nothing.
  PolicyUpdate(const TrainRecipe& recipe, trainer::Learner* learner, int step,
               const TrainReplay* replay)
      : recipe_(recipe), learner_(*learner), step_(step), replay_(replay) {}

  // Log-probabilities before the update. Writes parity, entropy and accept rates, and clears the
  // flag of samples that mismatch rejects.
  //
  // Samples of older weights (train.max_staleness) are stale: their ratio in the loss is to the
  // log-probabilities that they were sampled with, which rl/ clips as any other, and the mismatch
  // rule, which compares the same weights, leaves them alone.
  Status Compare(TrainingBatch* batch, nlohmann::ordered_json* line);
  // Mean entropy of each sample's tokens, nats; < 0: it was not evaluated. After Compare().
  const std::vector<double>& entropies() const { return entropies_; }
  // recipe.updates_per_step updates, each over a part of the sequences.
  Status Apply(const TrainingBatch& batch, double learning_rate, nlohmann::ordered_json* line);

 private:
  Status EvaluateAll(const TrainingBatch& batch, nlohmann::ordered_json* line);

  // Steps between the weights that sampled it and those that it trains.
  int64_t StalenessOf(const rl::TrainingSample& sample) const {
    return recipe_.max_staleness > 0 ? step_ - 1 - sample.policy_update : 0;
  }

  const TrainRecipe& recipe_;
  trainer::Learner& learner_;
  const int step_;
  const TrainReplay* const replay_;
  TokenValues log_probs_;   // the trainer's
  TokenValues importance_;  // weights of TIS; empty without it
  std::vector<double> entropies_;
};

}  // namespace davinci::training
