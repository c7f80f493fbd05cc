// The clipped policy-gradient loss of one token, and how tokens become one number. The trainer
// computes the same on tensors; these are the definitions its kernels are tested against.
//
//   rho = exp(log p_now - log p_old)
//   l   = max(-A rho, -A clip(rho, 1 - low, 1 + high));   A < 0: l = min(l, -A dual)
//
// (daVinci-kernel's core_algos.py: clip-higher 0.2/0.28 from DAPO, dual clip 3 from Ye et al.
// 2020.) The gradient is taken with respect to log p_now: -A rho where the unclipped term is in
// force, 0 where a clip is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::rl {

struct ClipOptions {
  double low = 0.2;
  double high = 0.28;
  double dual = 3;  // <= 1: no dual clip
};

struct TokenLoss {
  double loss = 0;
  double gradient = 0;        // d loss / d log p_now
  bool clipped_low = false;   // A < 0 and rho below 1 - low
  bool clipped_high = false;  // A > 0 and rho above 1 + high
  bool clipped_dual = false;
};

// |log ratio| is clamped to 20 first.
TokenLoss ClippedTokenLoss(double log_ratio, double advantage, const ClipOptions& options);

enum class Aggregation {
  kTokenMean,              // all tokens of the batch weigh the same (DAPO)
  kSequenceMeanTokenSum,   // per sequence the sum of its tokens, mean over sequences with any, over
                           // `divisor` (daVinci-kernel: 1000)
  kSequenceMeanTokenMean,  // per sequence the mean, mean over sequences (GRPO)
  kTokenSumConstant,       // the sum of all tokens over `divisor` (Dr. GRPO)
};
std::string_view AggregationName(Aggregation aggregation);
Result<Aggregation> ParseAggregation(std::string_view name);

// The weight of a token of each sequence: loss = sum over sequences s, tokens t of weight_s l_st.
// `num_tokens`: trained tokens of each sequence of the whole (global) batch; empty sequences weigh
// nothing and are not counted.
std::vector<double> TokenWeights(Aggregation aggregation, std::span<const int64_t> num_tokens,
                                 double divisor);

}  // namespace davinci::rl
