#include "davinci/trainer/objectives.h"

#include <cmath>

namespace davinci::trainer {

void PolicySums::Add(const PolicySums& other) {
  tokens += other.tokens;
  loss += other.loss;
  clipped_low += other.clipped_low;
  clipped_high += other.clipped_high;
  clipped_dual += other.clipped_dual;
  log_ratio += other.log_ratio;
  kl += other.kl;
}

void PolicyObjective::operator()(size_t first, std::span<const float> log_probs,
                                 std::span<float> gradients) {
  for (size_t i = 0; i < log_probs.size(); ++i) {
    const PolicyTarget& target = targets_[first + i];
    const double log_ratio = static_cast<double>(log_probs[i]) - target.old_log_prob;
    const rl::TokenLoss token = rl::ClippedTokenLoss(log_ratio, target.advantage, clip_);
    gradients[i] = static_cast<float>(token.gradient * target.weight);
    PolicySums& sums = sums_[static_cast<size_t>(target.agent)];
    ++sums.tokens;
    sums.loss += token.loss * target.weight;
    sums.clipped_low += token.clipped_low ? 1 : 0;
    sums.clipped_high += token.clipped_high ? 1 : 0;
    sums.clipped_dual += token.clipped_dual ? 1 : 0;
    sums.log_ratio -= log_ratio;
    sums.kl += std::expm1(log_ratio) - log_ratio;
  }
}

void ValueObjective::operator()(size_t first, std::span<const float> values,
                                std::span<float> gradients) {
  for (size_t i = 0; i < values.size(); ++i) {
    const ValueTarget& target = targets_[first + i];
    const rl::ValueLoss value =
        rl::ClippedValueLoss(values[i], target.old_value, target.target, clip_);
    gradients[i] = static_cast<float>(value.gradient * target.weight);
    loss_ += value.loss * target.weight;
    num_clipped_ += value.clipped ? 1 : 0;
  }
}

}  // namespace davinci::trainer
