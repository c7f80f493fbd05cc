#include "davinci/rl/summary_reward.h"

#include <algorithm>
#include <cmath>

namespace davinci::rl {
namespace {

double Worth(const ProposalResult& proposal) {
  switch (proposal.fate) {
    case ProposalFate::kVerified:
      return proposal.uplift_low > 1 ? std::log(std::min(proposal.uplift_low, kSummaryUpliftCap))
                                     : 0;
    case ProposalFate::kUndecided:
      return 0;
    case ProposalFate::kRefused:
      return kRefusedProposalPay;
  }
  return 0;
}

}  // namespace

double SummaryReward(std::span<const ProposalResult> proposals, bool readable) {
  if (!readable) return kUnreadableReplyPay;
  if (proposals.empty()) return 0;
  double best = Worth(proposals.front());
  for (const ProposalResult& proposal : proposals.subspan(1))
    best = std::max(best, Worth(proposal));
  return best;
}

}  // namespace davinci::rl
