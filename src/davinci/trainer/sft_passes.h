// The passes of supervised training: which rows a rank computes, in which passes, and what they sum
// up to over all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "davinci/comm/rank_group.h"
#include "davinci/trainer/learner.h"
#include "davinci/trainer/settings.h"
#include "davinci/trainer/sft_data.h"

namespace davinci::trainer {

// By agent (rl::AgentKind). Of the tokens that are trained.
struct SftSums {
  std::array<double, 3> loss{};
  std::array<int64_t, 3> tokens{};
  int64_t passes = 0;
  int64_t stops = 0;  // ranks that were asked to stop
  int64_t num_tokens() const { return tokens[0] + tokens[1] + tokens[2]; }
  double Mean() const;
};

// Sums over all ranks, in their order: the same bits on each. Collective.
Status SumOverRanks(comm::RankGroup* ranks, SftSums* sums);

// Passes of at most `tokens_per_pass` tokens over the examples `chosen`; indices into `chosen`.
std::vector<std::vector<size_t>> SftBins(const SftData& data, std::span<const size_t> chosen,
                                         int64_t tokens_per_pass);

// Adds the gradients of this rank's share of the examples `chosen`. The normaliser is that of all
// of them.
Status AccumulateSft(Learner& learner, const SftSettings& settings, const SftData& data,
                     std::span<const size_t> chosen, SftSums* sums);

// Sums over the trained tokens of held-out examples.
struct SftEvaluation {
  struct Share {
    double loss = 0;      // mean
    double accuracy = 0;  // share of tokens that the model finds likeliest
    int64_t tokens = 0;
  };
  Share all;
  std::map<std::string, Share> splits;  // of the examples that name one
};

// All examples. Collective.
Result<SftEvaluation> EvaluateSft(Learner& learner, const SftData& data, int64_t tokens_per_pass);

}  // namespace davinci::trainer
