#include "davinci/rl/turn_reward.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace davinci::rl {
namespace {

constexpr std::array<std::pair<RewardKind, std::string_view>, 4> kRewardNames = {{
    {RewardKind::kDavinci, "davinci"},
    {RewardKind::kDrKernelPaper, "drkernel-paper"},
    {RewardKind::kKevin, "kevin"},
    {RewardKind::kMilestone, "milestone"},
}};

}  // namespace

std::string_view RewardKindName(RewardKind kind) {
  for (const auto& [value, name] : kRewardNames)
    if (value == kind) return name;
  return "";
}

Result<RewardKind> ParseRewardKind(std::string_view name) {
  std::string known;
  for (const auto& [value, text] : kRewardNames) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  return InvalidArgument(fmt::format("\"{}\" is not one of {}", name, known));
}

TurnReward RewardOf(bool correct, double speedup, std::optional<double> coverage,
                    const RewardOptions& options, const BaselineSpeedups& over) {
  TurnReward reward;
  if (options.kind == RewardKind::kMilestone) {
    reward.value = MilestoneReward(correct, over);
    return reward;
  }
  if (!correct) return reward;
  const double covered = std::clamp(coverage.value_or(0), 0.0, 1.0);
  switch (options.kind) {
    case RewardKind::kDavinci:
      reward.coverage = options.coverage_weight * covered;
      reward.value =
          PublishedReward(true, speedup, std::nullopt, options.speedup_cap) + reward.coverage;
      break;
    case RewardKind::kDrKernelPaper:
      reward.coverage = covered;
      reward.value = DrKernelPaperReward(true, speedup, covered, options.speedup_cap);
      break;
    case RewardKind::kKevin:
      reward.value = KevinReward(true, speedup);
      break;
    case RewardKind::kMilestone:
      break;
  }
  return reward;
}

}  // namespace davinci::rl
