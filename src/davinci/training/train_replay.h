// Rows of supervised training that are learned along with reinforcement, so that the model keeps
// what no reward of its tasks asks for ("PPO-ptx": Ouyang et al., arXiv 2203.02155, section 3.5).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/trainer/sft_data.h"
#include "davinci/trainer/sft_passes.h"
#include "davinci/training/train_recipe.h"

namespace davinci::training {

class TrainReplay {
 public:
  // The rows of recipe.replay, but for those that do not fit the model's context. Errors are those
  // of trainer::SftData::Load.
  static Result<std::unique_ptr<TrainReplay>> Open(const TrainRecipe& recipe);

  // The rows of update 0, 1, … of the run, by number: an epoch sees each of them once, in an order
  // of its own.
  std::vector<size_t> ExamplesOf(int64_t update) const;
  // Adds the gradients of recipe.replay.weight times the mean negative log-likelihood of a trained
  // token of these rows. Called by all ranks. `sums` (added to): of this rank's rows.
  Status Accumulate(int64_t update, trainer::Learner* learner, trainer::SftSums* sums) const;

  size_t num_rows() const { return data_.size(); }
  const std::string& digest() const { return data_.digest(); }

 private:
  TrainReplay(const TrainRecipe& recipe, trainer::SftData data);

  trainer::SftData data_;
  trainer::SftSettings settings_;
  int64_t examples_;  // of an update
};

}  // namespace davinci::training
