#include "davinci/training/train_critic.h"

#include <cmath>
#include <functional>
#include <utility>

#include "davinci/trainer/objectives.h"

namespace davinci::training {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

trainer::LearnerOptions CriticOptions(const TrainRecipe& recipe) {
  trainer::LearnerOptions options = recipe.common.learner;
  options.value_head = true;
  return options;
}

TrainCritic::TrainCritic(const TrainRecipe& recipe, std::unique_ptr<trainer::Learner> learner)
    : recipe_(recipe),
      settings_(recipe.algorithm.critic),
      learner_(std::move(learner)),
      gate_(settings_.gate, settings_.gate_steps) {}

Result<std::unique_ptr<TrainCritic>> TrainCritic::Open(const TrainRecipe& recipe) {
  DAVINCI_ASSIGN_OR_RETURN(auto learner, trainer::OpenLearner(CriticOptions(recipe)));
  return std::unique_ptr<TrainCritic>(new TrainCritic(recipe, std::move(learner)));
}

Status TrainCritic::Assess(TrainingBatch* batch, ordered_json* line) {
  sequences_ = SequencesOf(*batch, nullptr, &rl::TrainingSample::valued);
  values_.assign(batch->samples.size(), {});
  targets_.assign(batch->samples.size(), {});
  for (size_t i = 0; i < batch->samples.size(); ++i)
    if (batch->samples[i].valued) values_[i].resize(batch->samples[i].output.size());
  const auto all = AllOf(sequences_.size());
  for (const auto& bin : BinsOf(sequences_, all, recipe_.common.tokens_per_pass)) {
    DAVINCI_ASSIGN_OR_RETURN(const trainer::PassResult result,
                             learner_->Evaluate(ViewsOf(sequences_, bin), {}));
    size_t next = 0;
    for (const size_t s : bin)
      for (const auto& [sample, token] : sequences_[s].sources)
        values_[sample][token] = result.outputs[next++];
  }
  std::vector<double> all_values, all_returns, advantages;
  for (const TrainUnit& unit : batch->units) {
    // The rollout's sampled tokens, one behind the other; a turn is paid at its last one.
    std::vector<double> rewards, values;
    for (const size_t i : unit.samples) {
      if (!batch->samples[i].valued) continue;
      values.insert(values.end(), values_[i].begin(), values_[i].end());
      rewards.resize(values.size());
      rewards.back() = batch->samples[i].paid;
    }
    if (values.empty()) continue;
    const double gamma = recipe_.algorithm.gamma;
    const rl::GaeResult gae = rl::GeneralisedAdvantages(rewards, values, gamma, settings_.lambda);
    const std::vector<double> zeros(values.size());
    const rl::GaeResult paid = rl::GeneralisedAdvantages(rewards, zeros, gamma, 1);
    all_values.insert(all_values.end(), values.begin(), values.end());
    all_returns.insert(all_returns.end(), paid.returns.begin(), paid.returns.end());
    size_t at = 0;
    for (const size_t i : unit.samples) {
      rl::TrainingSample& sample = batch->samples[i];
      if (!sample.valued) continue;
      sample.token_advantages.clear();
      for (size_t t = 0; t < sample.output.size(); ++t, ++at) {
        sample.token_advantages.push_back(static_cast<float>(gae.advantages[at]));
        targets_[i].push_back(static_cast<float>(gae.returns[at]));
        if (sample.trained) advantages.push_back(gae.advantages[at]);
      }
    }
  }
  if (settings_.whiten) rl::Whiten(advantages);
  size_t at = 0;
  for (const TrainUnit& unit : batch->units)
    for (const size_t i : unit.samples) {
      rl::TrainingSample& sample = batch->samples[i];
      if (!sample.valued || !sample.trained) continue;
      for (float& advantage : sample.token_advantages)
        advantage = static_cast<float>(recipe_.algorithm.policy_weight * advantages[at++]);
    }
  const double explained = rl::ExplainedVariance(all_values, all_returns);
  if (!all_values.empty()) gate_.Observe(explained);
  (*line)["critic"] = {{"explained_variance", explained},
                       {"value", MeanOf(all_values)},
                       {"return", MeanOf(all_returns)},
                       {"gate", open() ? 1 : 0}};
  return Status::Ok();
}

Status TrainCritic::Update(double learning_rate, ordered_json* line) {
  int64_t tokens = 0;
  for (const TrainSequence& sequence : sequences_)
    tokens += static_cast<int64_t>(sequence.targets.size());
  if (tokens == 0) return Status::Ok();
  const auto weight = static_cast<float>(1 / static_cast<double>(tokens));
  const auto all = AllOf(sequences_.size());
  const auto bins = BinsOf(sequences_, all, recipe_.common.tokens_per_pass);
  double first_loss = 0;
  double norm = 0;
  int64_t clipped = 0;
  for (int update = 0; update < settings_.updates_per_step; ++update) {
    clipped = 0;
    for (const auto& bin : bins) {
      std::vector<trainer::ValueTarget> targets;
      for (const size_t s : bin)
        for (const auto& [i, t] : sequences_[s].sources)
          targets.push_back({values_[i][t], targets_[i][t], weight});
      trainer::ValueObjective objective(settings_.value_clip, targets);
      DAVINCI_RETURN_IF_ERROR(
          learner_->Accumulate(ViewsOf(sequences_, bin), {}, std::ref(objective)).status());
      if (update == 0) first_loss += objective.loss();
      clipped += objective.num_clipped();
    }
    DAVINCI_ASSIGN_OR_RETURN(const trainer::Update done, learner_->Step(learning_rate));
    norm = done.gradient_norm;
  }
  ordered_json& own = (*line)["critic"];
  own["loss"] = first_loss;
  own["clipped"] = static_cast<double>(clipped) / static_cast<double>(tokens);
  if (std::isfinite(norm)) own["gradient_norm"] = norm;
  own["skipped_updates"] = learner_->Facts().skipped_updates;
  return Status::Ok();
}

json TrainCritic::State() const { return {{"recent", gate_.recent()}, {"open", gate_.open()}}; }

Status TrainCritic::Restore(const json& state) {
  if (!state.is_object() || !state.contains("recent") || !state["recent"].is_array() ||
      !state.value("open", json()).is_boolean())
    return InvalidArgument("the checkpoint's state.json has no gate of the critic");
  std::vector<double> recent;
  for (const json& value : state["recent"])
    recent.push_back(value.is_number() ? value.get<double>() : 0);
  gate_.Restore(std::move(recent), state["open"].get<bool>());
  return Status::Ok();
}

}  // namespace davinci::training
