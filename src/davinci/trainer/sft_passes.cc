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
std::vector<std::vector<size_t>> RowsOfRanks(const comm::RankGroup* ranks,
                                             const std::vector<SftExample>& examples,
                                             std::span<const size_t> chosen) {
  std::vector<int64_t> lengths;
  for (const size_t i : chosen) lengths.push_back(static_cast<int64_t>(examples[i].tokens.size()));
  return DivideRows(lengths, ranks == nullptr ? 1 : ranks->world().size);
}
size_t RankOf(const comm::RankGroup* ranks) {
  return ranks == nullptr ? 0 : static_cast<size_t>(ranks->world().rank);
}

// One pass over `members` of `examples`; with `weights` (of a token of each member) its gradients
// are added.
Status Pass(Learner& learner, const std::vector<SftExample>& examples,
            const std::vector<size_t>& members, const std::vector<double>* weights, SftSums* sums) {
  std::vector<SequenceView> views;
  std::vector<float> derivatives;
  for (size_t i = 0; i < members.size(); ++i) {
    const SftExample& example = examples[members[i]];
    views.push_back({example.tokens, example.targets});
    if (weights != nullptr)
      for (const float weight : example.weights)
        derivatives.push_back(static_cast<float>(-(*weights)[i] * weight));
  }
  DAVINCI_ASSIGN_OR_RETURN(const PassResult result,
                           weights != nullptr ? learner.AccumulateLinear(views, {}, derivatives)
                                              : learner.Evaluate(views, {}));
  size_t next = 0;
  for (const size_t member : members) {
    const auto agent = static_cast<size_t>(examples[member].agent);
    for (size_t t = 0; t < examples[member].targets.size(); ++t)
      sums->loss[agent] -= result.outputs[next++];
    sums->tokens[agent] += static_cast<int64_t>(examples[member].targets.size());
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

std::vector<std::vector<size_t>> SftBins(const std::vector<SftExample>& examples,
                                         std::span<const size_t> chosen, int64_t tokens_per_pass) {
  std::vector<int64_t> lengths;
  for (const size_t i : chosen) lengths.push_back(static_cast<int64_t>(examples[i].tokens.size()));
  return rl::PackBins(lengths, tokens_per_pass);
}

Status AccumulateSft(Learner& learner, const SftSettings& settings,
                     const std::vector<SftExample>& examples, std::span<const size_t> chosen,
                     SftSums* sums) {
  std::vector<int64_t> trained;
  for (const size_t i : chosen) trained.push_back(static_cast<int64_t>(examples[i].targets.size()));
  const std::vector<double> token_weights =
      rl::TokenWeights(settings.aggregation, trained, settings.divisor);
  const auto rows = RowsOfRanks(learner.ranks(), examples, chosen);
  std::vector<std::vector<std::vector<size_t>>> passes;  // of each rank: rows of each pass
  size_t most = 0;
  for (const std::vector<size_t>& own : rows) {
    std::vector<size_t> members;
    for (const size_t row : own) members.push_back(chosen[row]);
    passes.push_back(SftBins(examples, members, settings.common.tokens_per_pass));
    most = std::max(most, passes.back().size());
  }
  const size_t rank = RankOf(learner.ranks());
  for (const auto& bin : passes[rank]) {
    std::vector<size_t> members;
    std::vector<double> weights;
    for (const size_t i : bin) {
      const size_t row = rows[rank][i];
      members.push_back(chosen[row]);
      weights.push_back(token_weights[row] * AgentWeight(settings, examples[members.back()].agent));
    }
    DAVINCI_RETURN_IF_ERROR(Pass(learner, examples, members, &weights, sums));
  }
  // Every rank accumulates equally often (learner.h).
  for (size_t i = passes[rank].size(); i < most; ++i)
    DAVINCI_RETURN_IF_ERROR(learner.AccumulateLinear({}, {}, {}).status());
  return Status::Ok();
}

Result<double> EvaluateSft(Learner& learner, const std::vector<SftExample>& examples,
                           int64_t tokens_per_pass) {
  std::vector<size_t> all(examples.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const std::vector<size_t> own =
      RowsOfRanks(learner.ranks(), examples, all)[RankOf(learner.ranks())];
  SftSums sums;
  for (const auto& bin : SftBins(examples, own, tokens_per_pass)) {
    std::vector<size_t> members;
    for (const size_t i : bin) members.push_back(own[i]);
    DAVINCI_RETURN_IF_ERROR(Pass(learner, examples, members, nullptr, &sums));
  }
  DAVINCI_RETURN_IF_ERROR(SumOverRanks(learner.ranks(), &sums));
  return sums.Mean();
}

}  // namespace davinci::trainer
