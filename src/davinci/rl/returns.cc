#include "davinci/rl/returns.h"

#include <algorithm>

namespace davinci::rl {

Rewards PaidRewards(std::span<const std::optional<double>> rewards, ReturnKind kind) {
  Rewards paid(rewards.begin(), rewards.end());
  if (kind != ReturnKind::kFinal) return paid;
  bool later = false;
  for (auto reward = paid.rbegin(); reward != paid.rend(); ++reward) {
    if (!*reward) continue;
    if (later) *reward = 0;
    later = true;
  }
  return paid;
}

Rewards Returns(std::span<const std::optional<double>> rewards, ReturnKind kind, double gamma) {
  const Rewards paid = PaidRewards(rewards, kind);
  Rewards returns(rewards.size());
  std::optional<double> later;  // the return of the next judged turn
  for (size_t t = rewards.size(); t-- > 0;) {
    if (!paid[t]) continue;
    const double r = paid[t].value();
    if (!later) {
      later = r;
    } else {
      later = kind == ReturnKind::kDiscountedMax ? std::max(r, gamma * *later) : r + gamma * *later;
    }
    returns[t] = later;
  }
  return returns;
}

MaskedTurns ApplyTurnMask(std::span<const std::optional<double>> rewards, TurnMaskRule rule,
                          double break_penalty) {
  MaskedTurns masked{{rewards.begin(), rewards.end()}, std::vector<bool>(rewards.size())};
  double best = 0;
  for (size_t t = 0; t < rewards.size(); ++t) {
    if (!rewards[t]) continue;
    masked.trained[t] = true;
    if (best > 0 && rewards[t].value() <= 0) {
      if (rule == TurnMaskRule::kMaskVoid) {
        masked.trained[t] = false;
        masked.rewards[t] = 0;
      } else if (rule == TurnMaskRule::kPenaliseBreaking) {
        masked.rewards[t] = break_penalty;
      }
    }
    best = std::max(best, rewards[t].value());
  }
  return masked;
}

}  // namespace davinci::rl
