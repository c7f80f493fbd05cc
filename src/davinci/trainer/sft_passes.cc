#include "davinci/trainer/sft_passes.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "davinci/rl/packing.h"
#include "davinci/trainer/divide.h"

namespace davinci::trainer {
namespace {

double AgentWeight(const SftSettings& settings, rl::AgentKind agent) {
  switch (agent) {
    case rl::AgentKind::kSelection:
      return settings.selection_weight;
    case rl::AgentKind::kSummary:
      return settings.summary_weight;
    default:
      return settings.policy_weight;
  }
}

// Which of `chosen` each rank computes.
std::vector<std::vector<size_t>> RowsOfRanks(const comm::RankGroup* ranks, const SftData& data,
                                             std::span<const size_t> chosen) {
  std::vector<int64_t> lengths;
  for (const size_t i : chosen) lengths.push_back(data.num_tokens(i));
  return DivideRows(lengths, ranks == nullptr ? 1 : ranks->world().size);
}
size_t RankOf(const comm::RankGroup* ranks) {
  return ranks == nullptr ? 0 : static_cast<size_t>(ranks->world().rank);
}

// Sums over the tokens of one split.
struct SplitSums {
  double loss = 0;
  int64_t tokens = 0;
  int64_t hits = 0;
};

// Names of all splits of the data, in order: alike on every rank.
std::map<std::string, SplitSums> SplitsOf(const SftData& data) {
  std::map<std::string, SplitSums> splits;
  for (size_t i = 0; i < data.size(); ++i) splits.try_emplace(data.split(i));
  return splits;
}

Status SumOverRanks(comm::RankGroup* ranks, std::map<std::string, SplitSums>* splits) {
  if (ranks == nullptr) return Status::Ok();
  std::vector<SplitSums> mine;
  for (const auto& [name, sums] : *splits) mine.push_back(sums);
  const size_t bytes = mine.size() * sizeof(SplitSums);
  DAVINCI_ASSIGN_OR_RETURN(const auto all,
                           ranks->Exchange({reinterpret_cast<const char*>(mine.data()), bytes}));
  for (auto& [name, sums] : *splits) sums = {};
  for (const std::string& text : all) {
    if (text.size() != bytes) return Internal("a rank sent no sums of splits");
    std::memcpy(mine.data(), text.data(), bytes);
    size_t next = 0;
    for (auto& [name, sums] : *splits) {
      sums.loss += mine[next].loss;
      sums.tokens += mine[next].tokens;
      sums.hits += mine[next++].hits;
    }
  }
  return Status::Ok();
}

// One pass over `members` of `data`: with `weights` (of a token of each member) its gradients are
// added, without them the sums of `splits` are.
Status Pass(Learner& learner, const SftData& data, const std::vector<size_t>& members,
            const std::vector<double>* weights, std::map<std::string, SplitSums>* splits,
            SftSums* sums) {
  std::vector<SftExample> examples;
  for (const size_t member : members) examples.push_back(data.Example(member));
  std::vector<SequenceView> views;
  std::vector<float> derivatives;
  for (size_t i = 0; i < members.size(); ++i) {
    const SftExample& example = examples[i];
    views.push_back({example.tokens, example.targets});
    if (weights != nullptr)
      for (const float weight : example.weights)
        derivatives.push_back(static_cast<float>(-(*weights)[i] * weight));
  }
  DAVINCI_ASSIGN_OR_RETURN(const PassResult result,
                           weights != nullptr ? learner.AccumulateLinear(views, {}, derivatives)
                                              : learner.Evaluate(views, {.hits = true}));
  size_t next = 0;
  for (const SftExample& example : examples) {
    const auto agent = static_cast<size_t>(example.agent);
    SplitSums* const split = splits != nullptr ? &(*splits)[example.split] : nullptr;
    for (size_t t = 0; t < example.targets.size(); ++t, ++next) {
      sums->loss[agent] -= result.outputs[next];
      if (split == nullptr) continue;
      split->loss -= result.outputs[next];
      split->hits += result.hits[next] > 0 ? 1 : 0;
      ++split->tokens;
    }
    sums->tokens[agent] += static_cast<int64_t>(example.targets.size());
  }
  ++sums->passes;
  return Status::Ok();
}

}  // namespace

double SftSums::Mean() const {
  const auto count = static_cast<double>(num_tokens());
  return count > 0 ? (loss[0] + loss[1] + loss[2]) / count : 0;
}

Status SumOverRanks(comm::RankGroup* ranks, SftSums* sums) {
  if (ranks == nullptr) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const auto all,
                           ranks->Exchange({reinterpret_cast<const char*>(sums), sizeof(*sums)}));
  SftSums total;
  for (const std::string& text : all) {
    SftSums one;
    if (text.size() != sizeof(one)) return Internal("a rank sent no sums");
    std::memcpy(&one, text.data(), sizeof(one));
    for (size_t agent = 0; agent < 3; ++agent) {
      total.loss[agent] += one.loss[agent];
      total.tokens[agent] += one.tokens[agent];
    }
    total.passes += one.passes;
    total.stops += one.stops;
  }
  *sums = total;
  return Status::Ok();
}

std::vector<std::vector<size_t>> SftBins(const SftData& data, std::span<const size_t> chosen,
                                         int64_t tokens_per_pass) {
  std::vector<int64_t> lengths;
  for (const size_t i : chosen) lengths.push_back(data.num_tokens(i));
  return rl::PackBins(lengths, tokens_per_pass);
}

Status AccumulateSft(Learner& learner, const SftSettings& settings, const SftData& data,
                     std::span<const size_t> chosen, SftSums* sums) {
  std::vector<int64_t> trained;
  for (const size_t i : chosen) trained.push_back(data.num_targets(i));
  const std::vector<double> token_weights =
      rl::TokenWeights(settings.aggregation, trained, settings.divisor);
  const auto rows = RowsOfRanks(learner.ranks(), data, chosen);
  std::vector<std::vector<std::vector<size_t>>> passes;  // of each rank: rows of each pass
  size_t most = 0;
  for (const std::vector<size_t>& own : rows) {
    std::vector<size_t> members;
    for (const size_t row : own) members.push_back(chosen[row]);
    passes.push_back(SftBins(data, members, settings.common.tokens_per_pass));
    most = std::max(most, passes.back().size());
  }
  const size_t rank = RankOf(learner.ranks());
  for (const auto& bin : passes[rank]) {
    std::vector<size_t> members;
    std::vector<double> weights;
    for (const size_t i : bin) {
      const size_t row = rows[rank][i];
      members.push_back(chosen[row]);
      weights.push_back(token_weights[row] * AgentWeight(settings, data.agent(members.back())));
    }
    DAVINCI_RETURN_IF_ERROR(Pass(learner, data, members, &weights, nullptr, sums));
  }
  // Every rank accumulates equally often (learner.h).
  for (size_t i = passes[rank].size(); i < most; ++i)
    DAVINCI_RETURN_IF_ERROR(learner.AccumulateLinear({}, {}, {}).status());
  return Status::Ok();
}

Result<SftEvaluation> EvaluateSft(Learner& learner, const SftData& data, int64_t tokens_per_pass) {
  std::vector<size_t> every(data.size());
  std::iota(every.begin(), every.end(), size_t{0});
  const std::vector<size_t> own =
      RowsOfRanks(learner.ranks(), data, every)[RankOf(learner.ranks())];
  SftSums sums;
  auto splits = SplitsOf(data);
  for (const auto& bin : SftBins(data, own, tokens_per_pass)) {
    std::vector<size_t> members;
    for (const size_t i : bin) members.push_back(own[i]);
    DAVINCI_RETURN_IF_ERROR(Pass(learner, data, members, nullptr, &splits, &sums));
  }
  DAVINCI_RETURN_IF_ERROR(SumOverRanks(learner.ranks(), &sums));
  DAVINCI_RETURN_IF_ERROR(SumOverRanks(learner.ranks(), &splits));
  SftEvaluation evaluation;
  const auto share = [](const SplitSums& of) {
    const auto tokens = static_cast<double>(std::max<int64_t>(of.tokens, 1));
    return SftEvaluation::Share{of.loss / tokens, static_cast<double>(of.hits) / tokens, of.tokens};
  };
  SplitSums all;
  for (const auto& [name, of] : splits) {
    all.tokens += of.tokens;
    all.hits += of.hits;
    if (!name.empty()) evaluation.splits[name] = share(of);
  }
  evaluation.all = share(all);
  evaluation.all.loss = sums.Mean();
  return evaluation;
}

}  // namespace davinci::trainer
