#include "davinci/rl/summary_reward.h"

#include <algorithm>
#include <cmath>

namespace davinci::rl {
namespace {

double Worth(const ProposalResult& proposal, const SummaryRewardOptions& options) {
  switch (proposal.fate) {
    case ProposalFate::kVerified:
      return proposal.uplift_low > 1 ? std::min(std::log(proposal.uplift_low), options.log_cap) : 0;
    case ProposalFate::kUndecided:
      return 0;
    case ProposalFate::kRefused:
      return options.refused_penalty;
  }
  return 0;
}

}  // namespace

double SummaryReward(std::span<const ProposalResult> proposals, bool readable,
                     const SummaryRewardOptions& options) {
  if (!readable) return options.unreadable_penalty;
  if (proposals.empty()) return 0;
  double best = Worth(proposals.front(), options);
  for (const ProposalResult& proposal : proposals.subspan(1))
    best = std::max(best, Worth(proposal, options));
  return best;
}

}  // namespace davinci::rl
