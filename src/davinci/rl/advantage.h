// From returns to advantages: how much better a sample did than the others of its group.
//
// A group is what shares a baseline. Which samples form one is the caller's: (task, turn) with all
// schemes pooled for the policy (daVinci-kernel), all m x n samples of a task for Kevin, the
// schemes of a task for selection, the calls of a task for summary. Groups may be ragged: fewer
// rollouts are alive at later turns, and a sample without a return is not a member.
//
// Every estimator maps the returns of one group to one advantage each, in the same order. None uses
// the sample's own return in a way that shrinks the gradient unless its paper does:
//
//   kTrloo    A_i = G_i - mean of the others = N/(N-1) (G_i - mean)      arXiv 2602.05885
//   kRloo     the same estimator, named for groups of whole trajectories Ahmadian et al. 2024
//   kGrpo     A_i = (G_i - mean) / (std + 1e-6), std with N - 1          Shao et al. 2024
//   kDrGrpo   A_i = G_i - mean                                           Liu et al. 2025
//   kReinforce A_i = G_i                                                 Williams 1992
//
// N = 1: nothing to compare with. kTrloo and kRloo give G (as published), kGrpo and kDrGrpo 0.
// Pure; no clock, no randomness.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::rl {

enum class AdvantageKind { kTrloo, kRloo, kGrpo, kDrGrpo, kReinforce };
std::string_view AdvantageKindName(AdvantageKind kind);
Result<AdvantageKind> ParseAdvantageKind(std::string_view name);

std::vector<double> GroupAdvantages(std::span<const double> returns, AdvantageKind kind);

// The same for a group with decoys (`decoy`, one entry a member): what earns nothing by rule is no
// part of the baseline of the others, so that many decoys do not raise an honest failure above the
// mean. The advantage of a decoy is min(0, G - mean of the others); under kGrpo over the deviation
// of the whole group, under kReinforce min(0, G). Without an honest member it is 0.
std::vector<double> GroupAdvantages(std::span<const double> returns, const std::vector<bool>& decoy,
                                    AdvantageKind kind);

// Of a task's rows: each advantage over the mean |advantage| of its trained tokens, plus 1e-8, so
// that every task contributes advantages of mean magnitude 1 (daVinci-kernel's adv_cross_scheme).
// `num_tokens`: trained tokens of each row; rows without any count nothing.
std::vector<double> ScaleAcrossSchemes(std::span<const double> advantages,
                                       std::span<const int64_t> num_tokens);

// Selection: the return of a scheme is the mean over its rollouts of each rollout's best turn (or
// first, or mean: `BestOf`); schemes with the same skills were rolled out once and share it.
struct SchemeReturn {
  bool null_scheme = false;
  std::optional<double> value;  // nothing: no rollout of it was judged
};
// A_j = weight (R_j - mean of the other schemes, the null scheme among them). With no other scheme
// weight * R_j. The null scheme is the control and gets no advantage of its own (nothing); so does
// a scheme without a return. `with_null` false leaves it out of the baseline, as published.
std::vector<std::optional<double>> SelectionAdvantages(std::span<const SchemeReturn> schemes,
                                                       double weight, bool with_null = true);

enum class PerRollout { kBest, kMean, kFirst };
// Mean over rollouts of each one's best, mean or first reward; rollouts without a judged turn are
// left out, and nothing is returned when none is left.
std::optional<double> SchemeValue(std::span<const std::vector<std::optional<double>>> rollouts,
                                  PerRollout per_rollout);

}  // namespace davinci::rl
