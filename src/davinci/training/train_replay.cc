#include "davinci/training/train_replay.h"

#include <utility>

#include "davinci/trainer/epoch.h"
#include "davinci/trainer/sft_rows.h"
#include "davinci/weights/model_config.h"

namespace davinci::training {

TrainReplay::TrainReplay(const TrainRecipe& recipe, trainer::SftData data)
    : data_(std::move(data)), examples_(recipe.replay.examples) {
  settings_.common = recipe.common;
  settings_.policy_weight = settings_.selection_weight = settings_.summary_weight =
      recipe.replay.weight;
}

Result<std::unique_ptr<TrainReplay>> TrainReplay::Open(const TrainRecipe& recipe) {
  const std::string& model = recipe.common.learner.model_dir;
  DAVINCI_ASSIGN_OR_RETURN(const weights::ModelConfig config, weights::LoadModelConfig(model));
  DAVINCI_ASSIGN_OR_RETURN(const auto encoder, trainer::SftEncoder::Open(model));
  auto data = trainer::SftData::Load(recipe.replay.rows, {}, encoder, config.max_positions, true);
  if (!data.ok()) return Status(data.status().code(), "replay.rows: " + data.status().message());
  return std::unique_ptr<TrainReplay>(new TrainReplay(recipe, std::move(data).value()));
}

std::vector<size_t> TrainReplay::ExamplesOf(int64_t update) const {
  const auto rows = static_cast<int64_t>(data_.size());
  std::vector<size_t> order;
  int64_t epoch_of_order = -1;
  std::vector<size_t> chosen;
  for (int64_t next = update * examples_; next < (update + 1) * examples_; ++next) {
    if (const int64_t epoch = next / rows; epoch != epoch_of_order) {
      order = trainer::EpochOrder(settings_.common.seed, epoch, data_.size());
      epoch_of_order = epoch;
    }
    chosen.push_back(order[static_cast<size_t>(next % rows)]);
  }
  return chosen;
}

Status TrainReplay::Accumulate(int64_t update, trainer::Learner* learner,
                               trainer::SftSums* sums) const {
  return trainer::AccumulateSft(*learner, settings_, data_, ExamplesOf(update), sums);
}

}  // namespace davinci::training
