#include "davinci/orchestrator/train_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "davinci/base/clock.h"
#include "davinci/rl/rejection.h"
#include "davinci/trainer/estimate.h"
#include "davinci/trainer/objectives.h"

namespace davinci::orchestrator {
namespace {

using nlohmann::ordered_json;

double Share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

std::string NameOf(size_t agent) {
  return std::string(rl::AgentKindName(static_cast<rl::AgentKind>(agent)));
}

// The loss weight of each sample's tokens. A sample is the loss's sequence: its tokens share one
// weight.
std::vector<double> WeightsOf(const TrainingBatch& batch,
                              const std::vector<TrainSequence>& sequences,
                              std::span<const size_t> members, const TrainAlgorithm& algorithm) {
  std::vector<size_t> samples;
  for (const size_t s : members)
    for (const auto& [sample, token] : sequences[s].sources)
      if (samples.empty() || samples.back() != sample) samples.push_back(sample);
  std::vector<int64_t> lengths;
  for (const size_t i : samples)
    lengths.push_back(static_cast<int64_t>(batch.samples[i].output.size()));
  const auto weights = rl::TokenWeights(algorithm.aggregation, lengths, algorithm.divisor);
  std::vector<double> weight_of(batch.samples.size(), 0);
  for (size_t i = 0; i < samples.size(); ++i) weight_of[samples[i]] = weights[i];
  return weight_of;
}

}  // namespace

Status PolicyUpdate::EvaluateAll(const TrainingBatch& batch, ordered_json* line) {
  rl::Packing packing;
  const auto sequences = SequencesOf(batch, &packing);
  (*line)["computed_twice"] = packing.twice_share();
  std::array<double, trainer::kNumAgents> entropy{};
  std::array<int64_t, trainer::kNumAgents> tokens{};
  trainer::PassOptions options;
  options.temperature = recipe_.run.step.policy_sampling.temperature;
  options.entropies = true;
  const auto all = AllOf(sequences.size());
  for (const auto& bin : BinsOf(sequences, all, recipe_.common.tokens_per_pass)) {
    DAVINCI_ASSIGN_OR_RETURN(const trainer::PassResult result,
                             learner_.Evaluate(ViewsOf(sequences, bin), options));
    size_t next = 0;
    for (const size_t s : bin)
      for (const auto& [sample, token] : sequences[s].sources) {
        const auto agent = static_cast<size_t>(batch.samples[sample].agent);
        entropy[agent] += result.entropies[next];
        ++tokens[agent];
        log_probs_[sample][token] = result.outputs[next++];
      }
  }
  for (size_t agent = 0; agent < trainer::kNumAgents; ++agent)
    if (tokens[agent] > 0)
      (*line)["entropy"][NameOf(agent)] = entropy[agent] / static_cast<double>(tokens[agent]);
  return Status::Ok();
}

Status PolicyUpdate::Compare(TrainingBatch* batch, ordered_json* line) {
  const Stopwatch watch;
  const TrainAlgorithm& algorithm = recipe_.algorithm;
  log_probs_.assign(batch->samples.size(), {});
  importance_.assign(batch->samples.size(), {});
  for (size_t i = 0; i < batch->samples.size(); ++i)
    log_probs_[i].resize(batch->samples[i].output.size());
  DAVINCI_RETURN_IF_ERROR(EvaluateAll(*batch, line));
  double sum = 0;
  double largest = 0;
  int64_t count = 0;
  std::array<int64_t, trainer::kNumAgents> kept{};
  std::array<int64_t, trainer::kNumAgents> seen{};
  int64_t in_band = 0;
  int64_t replies = 0;
  for (const TrainUnit& unit : batch->units) {
    std::vector<double> ratios;
    for (const size_t i : unit.samples) {
      const rl::TrainingSample& sample = batch->samples[i];
      if (!sample.trained) continue;
      std::vector<double> own;
      for (size_t t = 0; t < sample.output.size(); ++t) {
        const double d = static_cast<double>(log_probs_[i][t]) - sample.log_probs[t];
        own.push_back(d);
        sum += std::abs(d);
        largest = std::max(largest, std::abs(d));
        ++count;
      }
      ++replies;
      in_band += rl::AssessMismatch(own, algorithm.band).verdict == rl::MismatchVerdict::kKept;
      if (algorithm.mismatch == MismatchRule::kWeigh) {
        const auto found = rl::TokenImportanceWeights(own, algorithm.importance_cap);
        importance_[i].assign(found.begin(), found.end());
      }
      ratios.insert(ratios.end(), own.begin(), own.end());
    }
    if (ratios.empty()) continue;
    const auto agent = static_cast<size_t>(batch->samples[unit.samples.front()].agent);
    ++seen[agent];
    const bool keeps =
        algorithm.mismatch != MismatchRule::kReject ||
        rl::AssessMismatch(ratios, algorithm.band).verdict == rl::MismatchVerdict::kKept;
    if (keeps) {
      ++kept[agent];
    } else {
      for (const size_t i : unit.samples) batch->samples[i].trained = false;
    }
  }
  (*line)["parity"] = {{"mean", count > 0 ? sum / static_cast<double>(count) : 0},
                       {"max", largest},
                       {"in_band", Share(in_band, replies)},
                       {"replies", replies}};
  for (size_t agent = 0; agent < trainer::kNumAgents; ++agent)
    if (seen[agent] > 0) (*line)["accepted"][NameOf(agent)] = Share(kept[agent], seen[agent]);
  (*line)["seconds"]["parity"] = watch.Seconds();
  return Status::Ok();
}

Status PolicyUpdate::Apply(const TrainingBatch& batch, double learning_rate, ordered_json* line) {
  const TrainAlgorithm& algorithm = recipe_.algorithm;
  rl::Packing packing;
  const auto sequences = SequencesOf(batch, &packing);
  const Stopwatch watch;
  std::array<trainer::PolicySums, trainer::kNumAgents> sums;
  int64_t tokens = 0;
  int applied = 0;
  double norm = 0;
  double flops = 0;
  const auto parts =
      std::min<size_t>(static_cast<size_t>(recipe_.updates_per_step), sequences.size());
  for (size_t part = 0; part < parts; ++part) {
    std::vector<size_t> members;
    for (size_t i = part; i < sequences.size(); i += parts) members.push_back(i);
    const auto weight_of = WeightsOf(batch, sequences, members, algorithm);
    trainer::PassOptions options;
    options.temperature = recipe_.run.step.policy_sampling.temperature;
    for (const auto& bin : BinsOf(sequences, members, recipe_.common.tokens_per_pass)) {
      std::vector<trainer::PolicyTarget> targets;
      for (const size_t s : bin) {
        tokens += static_cast<int64_t>(sequences[s].tokens.size());
        flops +=
            trainer::ModelFlops(learner_.config(), static_cast<int64_t>(sequences[s].tokens.size()),
                                static_cast<int64_t>(sequences[s].targets.size()));
        for (const auto& [i, t] : sequences[s].sources) {
          const rl::TrainingSample& sample = batch.samples[i];
          const double weighed = importance_[i].empty() ? 1 : importance_[i][t];
          const float advantage = sample.token_advantages.empty()
                                      ? static_cast<float>(sample.advantage)
                                      : sample.token_advantages[t];
          targets.push_back({advantage, log_probs_[i][t],
                             static_cast<float>(weight_of[i] * weighed), sample.agent});
        }
      }
      trainer::PolicyObjective objective(algorithm.clip, targets);
      DAVINCI_RETURN_IF_ERROR(
          learner_.Accumulate(ViewsOf(sequences, bin), options, std::ref(objective)).status());
      for (size_t agent = 0; agent < trainer::kNumAgents; ++agent)
        sums[agent].Add(objective.by_agent()[agent]);
    }
    DAVINCI_ASSIGN_OR_RETURN(const trainer::Update update, learner_.Step(learning_rate));
    applied += update.applied;
    norm = update.gradient_norm;
  }
  learner_.Synchronize();
  const double seconds = watch.Seconds();
  (*line)["updates"] = applied;
  (*line)["skipped_updates"] = learner_.Facts().skipped_updates;
  (*line)["learning_rate"] = learning_rate;
  if (parts > 0 && std::isfinite(norm)) (*line)["gradient_norm"] = norm;
  (*line)["trained_sequences"] = sequences.size();
  (*line)["trained_tokens"] = packing.num_trained;
  (*line)["seconds"]["update"] = seconds;
  if (tokens > 0) {
    (*line)["tokens_per_second"] = static_cast<double>(tokens) / seconds;
    (*line)["model_tflops"] = flops / seconds * 1e-12;
  }
  for (size_t agent = 0; agent < trainer::kNumAgents; ++agent) {
    const trainer::PolicySums& own = sums[agent];
    if (own.tokens == 0) continue;
    const auto count = static_cast<double>(own.tokens);
    (*line)["loss"][NameOf(agent)] = own.loss;
    (*line)["clipped"][NameOf(agent)] = {{"low", own.clipped_low / count},
                                         {"high", own.clipped_high / count},
                                         {"dual", own.clipped_dual / count}};
    (*line)["kl"][NameOf(agent)] = own.kl / count;
  }
  return Status::Ok();
}

}  // namespace davinci::orchestrator
