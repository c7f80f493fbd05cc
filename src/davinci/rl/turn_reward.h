// Rewards of one judged turn: the published rewards (data/turn_facts.h) by name; pure.
//
//   kDavinci         PublishedReward, with a weight of its own for coverage
//   kDrKernelPaper   DrKernelPaperReward
//   kKevin           KevinReward
//   kMilestone       MilestoneReward
//
// Coverage rests on a profile that the candidate's process could have forged; `coverage` says how
// much of the reward it was.
#pragma once

#include <optional>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/data/turn_facts.h"

namespace davinci::rl {

enum class RewardKind { kDavinci, kDrKernelPaper, kKevin, kMilestone };
std::string_view RewardKindName(RewardKind kind);
Result<RewardKind> ParseRewardKind(std::string_view name);

struct RewardOptions {
  RewardKind kind = RewardKind::kDavinci;
  double speedup_cap = 6;        // of kDavinci and kDrKernelPaper
  double coverage_weight = 0.5;  // of kDavinci
};

struct TurnReward {
  double value = 0;
  double coverage = 0;  // the part of `value` that coverage brought
};

// `correct`: the turn earns a reward (EarnsReward). `speedup` 0: correct, but without a time that
// can be trusted. `over`: read by kMilestone alone.
TurnReward RewardOf(bool correct, double speedup, std::optional<double> coverage,
                    const RewardOptions& options, const BaselineSpeedups& over = {});

}  // namespace davinci::rl
