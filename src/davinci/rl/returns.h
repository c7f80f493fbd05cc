// From the rewards of a trajectory's turns to what each turn is credited with, and which turns are
// trained at all.
//
// A reward of nothing is a turn on which the judge failed: it carries no return and no gradient,
// and the turns around it are credited as if it had not happened. Indices are turns from 0.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace davinci::rl {

using Rewards = std::vector<std::optional<double>>;

enum class ReturnKind {
  kDiscountedSum,  // G_t = sum over u >= t of gamma^(u-t) r_u   (Dr. Kernel, daVinci gamma 1; Kevin
                   // 0.4)
  kDiscountedMax,  // G_t = max over u >= t of gamma^(u-t) r_u   (Kevin's other aggregation)
  kFinal,          // G_t = gamma^(T-t) r_T: the last judged turn is the answer (CUDA Agent)
};

// What each turn is paid: its reward; under kFinal the last judged turn its reward, those before it
// 0. kDiscountedMax pays like kDiscountedSum.
Rewards PaidRewards(std::span<const std::optional<double>> rewards, ReturnKind kind);

// gamma in [0, 1]. The exponent counts judged turns. Same length as `rewards`.
Rewards Returns(std::span<const std::optional<double>> rewards, ReturnKind kind, double gamma);

enum class TurnMaskRule {
  // A turn that earns nothing after an earlier one earned something is void: no gradient, reward 0
  // (as daVinci-kernel has it). Breaking a working kernel is then ignored, not penalised.
  kMaskVoid,
  // The same turn stays and earns `break_penalty`, so that breaking a working kernel costs.
  kPenaliseBreaking,
  kKeepAll,
};

struct MaskedTurns {
  Rewards rewards;            // after the rule: 0 for a void turn, the penalty for a breaking one
  std::vector<bool> trained;  // false: void or not judged
};

// A turn breaks when its reward is <= 0 although the best of the turns before it is > 0. The first
// judged turn never does.
MaskedTurns ApplyTurnMask(std::span<const std::optional<double>> rewards, TurnMaskRule rule,
                          double break_penalty = -0.5);

}  // namespace davinci::rl
