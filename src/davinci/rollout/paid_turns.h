// Paid turns: a reward that would be among the best of its group is paid only after the turn's
// kernel was judged again under a stronger protocol, and a seeded share of all turns is judged
// under the full one, whatever they were found to be: an audit of the cheap protocol.
//
// The group of a turn are the turns of its task with its number. What the second verdict says
// counts; where it takes a place among the best away, the next in line is judged again, too. A
// little slower takes no place away: of many alike the luckiest was first, and a second look at
// each would only show the next one's luck.
#pragma once

#include <optional>
#include <vector>

#include "davinci/data/rollout.h"

namespace davinci::rollout {

// PaidClaim is a turn of a group as it stands in line.
struct PaidClaim {
  std::optional<double> speedup;  // median; nothing: not right
  bool done = false;              // judged again
};

// Returns the claim of a turn that was judged again: what the first verdict said where the second
// is little slower. Pure.
PaidClaim ClaimAfter(const Evaluation& first, const Evaluation& second);

// Indices into `claims`, one group, that have to be judged again now: those among the best that are
// not done. Pure.
std::vector<size_t> DueForPayment(const std::vector<PaidClaim>& claims, int best);

// Is the turn drawn for an audit of so large a share? Pure.
bool IsAudited(const TurnId& turn, double share, int64_t seed);

// Do two verdicts about one kernel say the same: both correct or both not, and of two speedups
// intervals (99.9 %) that meet?
bool Agree(const Evaluation& first, const Evaluation& second);

}  // namespace davinci::rollout
