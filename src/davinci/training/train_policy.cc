#include "davinci/training/train_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <type_traits>

#include "davinci/base/clock.h"
#include "davinci/rl/rejection.h"
#include "davinci/trainer/estimate.h"
#include "davinci/trainer/objectives.h"
#include "davinci/training/train_ranks.h"

namespace davinci::training {
namespace {

using nlohmann::ordered_json;

double Share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

std::string NameOf(size_t agent) {
  return std::string(rl::AgentKindName(static_cast<rl::AgentKind>(agent)));
}

// visit(what each rank has), by rank.
template <typename Sums, typename Visit>
Status ForEachRank(comm::RankGroup* ranks, const Sums& mine, const Visit& visit) {
  static_assert(std::is_trivially_copyable_v<Sums>);
  if (ranks == nullptr) {
    visit(mine);
    return Status::Ok();
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto all,
                           ranks->Exchange({reinterpret_cast<const char*>(&mine), sizeof(mine)}));
  for (const std::string& text : all) {
    Sums one;
    if (text.size() != sizeof(one)) return Internal("a rank sent no sums");
    std::memcpy(&one, text.data(), sizeof(one));
    visit(one);
  }
  return Status::Ok();
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

// Of the replies that are trained, by agent; with a critic the mean over a reply's tokens.
void LogAdvantages(const TrainingBatch& batch, ordered_json* line) {
  struct Sums {
    int64_t replies = 0;
    double sum = 0;
    double magnitude = 0;
    double largest = 0;
    void Add(double advantage) {
      sum += advantage;
      magnitude += std::abs(advantage);
      largest = std::max(largest, std::abs(advantage));
    }
  };
  std::array<Sums, trainer::kNumAgents> sums{};
  for (const rl::TrainingSample& sample : batch.samples) {
    if (!sample.trained) continue;
    Sums& own = sums[static_cast<size_t>(sample.agent)];
    ++own.replies;
    if (sample.token_advantages.empty()) {
      own.Add(sample.advantage);
      continue;
    }
    double mean = 0;
    for (const float advantage : sample.token_advantages) mean += advantage;
    own.Add(mean / static_cast<double>(sample.token_advantages.size()));
  }
  for (size_t agent = 0; agent < trainer::kNumAgents; ++agent) {
    const Sums& own = sums[agent];
    if (own.replies == 0) continue;
    const auto count = static_cast<double>(own.replies);
    (*line)["advantage"][NameOf(agent)] = {{"replies", own.replies},
                                           {"mean", own.sum / count},
                                           {"magnitude", own.magnitude / count},
                                           {"largest", own.largest}};
  }
}

// Writes the loss of the tokens that are trained, and what was clipped, by agent.
void LogLosses(const std::array<trainer::PolicySums, trainer::kNumAgents>& by_agent,
               ordered_json* line) {
  for (size_t agent = 0; agent < trainer::kNumAgents; ++agent) {
    const trainer::PolicySums& found = by_agent[agent];
    if (found.tokens == 0) continue;
    const auto count = static_cast<double>(found.tokens);
    (*line)["loss"][NameOf(agent)] = found.loss;
    (*line)["clipped"][NameOf(agent)] = {{"low", found.clipped_low / count},
                                         {"high", found.clipped_high / count},
                                         {"dual", found.clipped_dual / count}};
    (*line)["kl"][NameOf(agent)] = found.kl / count;
  }
}

}  // namespace

Status PolicyUpdate::EvaluateAll(const TrainingBatch& batch, ordered_json* line) {
  rl::Packing packing;
  const auto sequences = SequencesOf(batch, &packing);
  (*line)["computed_twice"] = packing.twice_share();
  TokenValues entropies(batch.samples.size());
  for (size_t i = 0; i < batch.samples.size(); ++i)
    entropies[i].resize(batch.samples[i].output.size());
  struct Sums {
    std::array<double, trainer::kNumAgents> entropy{};
    std::array<int64_t, trainer::kNumAgents> tokens{};
  };
  Sums sums;
  trainer::PassOptions options;
  options.temperature = recipe_.run.step.policy_sampling.temperature;
  options.entropies = true;
  const auto divided = DivideAmongRanks(learner_.ranks(), sequences, AllOf(sequences.size()));
  const auto& own = OwnOf(learner_.ranks(), divided);
  for (const auto& bin : BinsOf(sequences, own, recipe_.common.tokens_per_pass)) {
    DAVINCI_ASSIGN_OR_RETURN(const trainer::PassResult result,
                             learner_.Evaluate(ViewsOf(sequences, bin), options));
    size_t next = 0;
    for (const size_t s : bin)
      for (const auto& [sample, token] : sequences[s].sources) {
        const auto agent = static_cast<size_t>(batch.samples[sample].agent);
        sums.entropy[agent] += result.entropies[next];
        ++sums.tokens[agent];
        entropies[sample][token] = result.entropies[next];
        log_probs_[sample][token] = result.outputs[next++];
      }
  }
  DAVINCI_RETURN_IF_ERROR(ShareValues(learner_.ranks(), sequences, divided, &log_probs_));
  DAVINCI_RETURN_IF_ERROR(ShareValues(learner_.ranks(), sequences, divided, &entropies));
  entropies_.assign(batch.samples.size(), -1);
  for (const TrainSequence& sequence : sequences)
    for (const auto& [sample, token] : sequence.sources) {
      const double share = 1 / static_cast<double>(entropies[sample].size());
      entropies_[sample] = std::max(entropies_[sample], 0.0) + share * entropies[sample][token];
    }
  Sums total;
  DAVINCI_RETURN_IF_ERROR(ForEachRank(learner_.ranks(), sums, [&](const Sums& one) {
    for (size_t agent = 0; agent < trainer::kNumAgents; ++agent) {
      total.entropy[agent] += one.entropy[agent];
      total.tokens[agent] += one.tokens[agent];
    }
  }));
  for (size_t agent = 0; agent < trainer::kNumAgents; ++agent)
    if (total.tokens[agent] > 0)
      (*line)["entropy"][NameOf(agent)] =
          total.entropy[agent] / static_cast<double>(total.tokens[agent]);
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
  // Differences of log-probabilities: of fresh samples, and of stale ones.
  struct Differences {
    double sum = 0;
    double largest = 0;
    int64_t count = 0;
    double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  };
  Differences fresh, stale;
  std::map<int64_t, int64_t> staleness;  // replies by how old
  std::array<int64_t, trainer::kNumAgents> kept{};
  std::array<int64_t, trainer::kNumAgents> seen{};
  int64_t in_band = 0;
  int64_t replies = 0;
  for (const TrainUnit& unit : batch->units) {
    std::vector<double> ratios;
    for (const size_t i : unit.samples) {
      const rl::TrainingSample& sample = batch->samples[i];
      if (!sample.trained) continue;
      const int64_t steps = StalenessOf(sample);
      Differences& differences = steps > 0 ? stale : fresh;
      ++staleness[steps];
      std::vector<double> own;
      for (size_t t = 0; t < sample.output.size(); ++t) {
        const double d = static_cast<double>(log_probs_[i][t]) - sample.log_probs[t];
        own.push_back(d);
        differences.sum += std::abs(d);
        differences.largest = std::max(differences.largest, std::abs(d));
        ++differences.count;
      }
      if (steps > 0) continue;
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
  (*line)["parity"] = {{"mean", fresh.mean()},
                       {"max", fresh.largest},
                       {"in_band", Share(in_band, replies)},
                       {"replies", replies}};
  if (recipe_.max_staleness > 0) {
    int64_t samples = 0, steps = 0;
    for (const auto& [age, number] : staleness) {
      samples += number;
      steps += age * number;
    }
    (*line)["staleness"] = {{"mean", Share(steps, samples)},
                            {"max", staleness.empty() ? 0 : staleness.rbegin()->first},
                            {"drift_mean", stale.mean()},
                            {"drift_max", stale.largest}};
  }
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
  struct Sums {
    std::array<trainer::PolicySums, trainer::kNumAgents> by_agent;
    int64_t tokens = 0;
    double flops = 0;
  };
  Sums own;
  int applied = 0;
  double norm = 0;
  trainer::SftSums replayed;
  const auto parts =
      std::min<size_t>(static_cast<size_t>(recipe_.updates_per_step), sequences.size());
  for (size_t part = 0; part < parts; ++part) {
    std::vector<size_t> members;
    for (size_t i = part; i < sequences.size(); i += parts) members.push_back(i);
    const auto weight_of = WeightsOf(batch, sequences, members, algorithm);
    trainer::PassOptions options;
    options.temperature = recipe_.run.step.policy_sampling.temperature;
    const auto divided = DivideAmongRanks(learner_.ranks(), sequences, members);
    const auto passes_of = [&](const std::vector<size_t>& rows) {
      return BinsOf(sequences, rows, recipe_.common.tokens_per_pass);
    };
    const auto passes = passes_of(OwnOf(learner_.ranks(), divided));
    for (const auto& bin : passes) {
      std::vector<trainer::PolicyTarget> targets;
      for (const size_t s : bin) {
        own.tokens += static_cast<int64_t>(sequences[s].tokens.size());
        own.flops +=
            trainer::ModelFlops(learner_.config(), static_cast<int64_t>(sequences[s].tokens.size()),
                                static_cast<int64_t>(sequences[s].targets.size()));
        for (const auto& [i, t] : sequences[s].sources) {
          const rl::TrainingSample& sample = batch.samples[i];
          const double weighed = importance_[i].empty() ? 1 : importance_[i][t];
          const float advantage = sample.token_advantages.empty()
                                      ? static_cast<float>(sample.advantage)
                                      : sample.token_advantages[t];
          const float before = StalenessOf(sample) > 0 ? sample.log_probs[t] : log_probs_[i][t];
          targets.push_back(
              {advantage, before, static_cast<float>(weight_of[i] * weighed), sample.agent});
        }
      }
      trainer::PolicyObjective objective(algorithm.clip, targets);
      DAVINCI_RETURN_IF_ERROR(
          learner_.Accumulate(ViewsOf(sequences, bin), options, std::ref(objective)).status());
      for (size_t agent = 0; agent < trainer::kNumAgents; ++agent)
        own.by_agent[agent].Add(objective.by_agent()[agent]);
    }
    // Every rank accumulates equally often (learner.h).
    size_t most = passes.size();
    for (const auto& rows : divided) most = std::max(most, passes_of(rows).size());
    for (size_t i = passes.size(); i < most; ++i)
      DAVINCI_RETURN_IF_ERROR(learner_.AccumulateLinear({}, options, {}).status());
    if (replay_ != nullptr) {
      const int64_t number = int64_t{step_ - 1} * recipe_.updates_per_step + static_cast<int>(part);
      DAVINCI_RETURN_IF_ERROR(replay_->Accumulate(number, &learner_, &replayed));
    }
    DAVINCI_ASSIGN_OR_RETURN(const trainer::Update update, learner_.Step(learning_rate));
    applied += update.applied;
    norm = update.gradient_norm;
  }
  learner_.Synchronize();
  Sums total;
  DAVINCI_RETURN_IF_ERROR(ForEachRank(learner_.ranks(), own, [&](const Sums& one) {
    for (size_t agent = 0; agent < trainer::kNumAgents; ++agent)
      total.by_agent[agent].Add(one.by_agent[agent]);
    total.tokens += one.tokens;
    total.flops += one.flops;
  }));
  if (replay_ != nullptr) {
    DAVINCI_RETURN_IF_ERROR(trainer::SumOverRanks(learner_.ranks(), &replayed));
    if (replayed.num_tokens() > 0)
      (*line)["replay"] = {{"loss", replayed.Mean()}, {"tokens", replayed.num_tokens()}};
  }
  const double seconds = watch.Seconds();
  LogAdvantages(batch, line);
  (*line)["updates"] = applied;
  (*line)["skipped_updates"] = learner_.Facts().skipped_updates;
  (*line)["learning_rate"] = learning_rate;
  if (parts > 0 && std::isfinite(norm)) (*line)["gradient_norm"] = norm;
  (*line)["trained_sequences"] = sequences.size();
  (*line)["trained_tokens"] = packing.num_trained;
  (*line)["seconds"]["update"] = seconds;
  if (total.tokens > 0) {
    (*line)["tokens_per_second"] = static_cast<double>(total.tokens) / seconds;
    (*line)["model_tflops"] = total.flops / seconds * 1e-12;
  }
  LogLosses(total.by_agent, line);
  return Status::Ok();
}

}  // namespace davinci::training
