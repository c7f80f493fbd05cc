// The critic of PPO in the loop of `davinci train`: a second model that learns what every state of
// a rollout is worth, and the token advantages that come of it.
//
// Values and advantages of a step come from the critic as it was before the step. Explained
// variance is measured against the returns that were paid (lambda 1), not against targets that hold
// the critic's own values. Until the gate is open the policy is not updated (critic.pretrain).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "davinci/base/status.h"
#include "davinci/rl/value_baseline.h"
#include "davinci/trainer/learner.h"
#include "davinci/training/train_recipe.h"
#include "davinci/training/train_sequences.h"

namespace davinci::training {

// As the learner of the policy, with a value in the place of the vocabulary.
trainer::LearnerOptions CriticOptions(const TrainRecipe& recipe);

class TrainCritic {
 public:
  static Result<std::unique_ptr<TrainCritic>> Open(const TrainRecipe& recipe);

  // Gives every valued sample of the policy its token_advantages, agent weight included, and shows
  // the step's explained variance to the gate.
  Status Assess(TrainingBatch* batch, nlohmann::ordered_json* line);
  // Moves the critic towards the targets of the last Assess().
  Status Update(double learning_rate, nlohmann::ordered_json* line);
  // Whether policy updates have begun.
  bool open() const { return !settings_.pretrain || gate_.open(); }

  trainer::Learner& learner() { return *learner_; }
  // The gate, for the state of a checkpoint, and back.
  nlohmann::json State() const;
  Status Restore(const nlohmann::json& state);

 private:
  TrainCritic(const TrainRecipe& recipe, std::unique_ptr<trainer::Learner> learner);

  const TrainRecipe& recipe_;
  const CriticSettings& settings_;
  std::unique_ptr<trainer::Learner> learner_;
  rl::CriticGate gate_;
  std::vector<TrainSequence> sequences_;  // of the last Assess()
  TokenValues values_, targets_;
};

}  // namespace davinci::training
