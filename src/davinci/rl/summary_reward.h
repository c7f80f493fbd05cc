// A Summary call is worth the gain that the verification of its proposals proves, bounded. Pure.
#pragma once

#include <optional>
#include <span>

namespace davinci::rl {

enum class ProposalFate {
  kVerified,   // its experiment ended with an interval
  kUndecided,  // its experiment ended without one (too few correct pairs)
  kRefused,    // lazy, malformed, or a near-duplicate: never verified
};

struct ProposalResult {
  ProposalFate fate = ProposalFate::kRefused;
  double uplift_low = 0;  // kVerified: lower end of time without / time with
};

inline constexpr double kSummaryUpliftCap = 6;       // no lucky measurement dominates a batch
inline constexpr double kRefusedProposalPay = -0.1;  // a proposal the library would not take
inline constexpr double kUnreadableReplyPay = -0.2;  // a reply that no proposal can be read from

// The best of the call's proposals: ln(uplift_low), within [0, ln kSummaryUpliftCap], where one was
// verified, else 0 where one was undecided, else kRefusedProposalPay. `readable` false: the reply
// could not be parsed. A readable reply without proposals (nothing worth a skill) is worth 0.
// Independent of how many proposals were tried, so that proposing more earns nothing by itself.
double SummaryReward(std::span<const ProposalResult> proposals, bool readable);

}  // namespace davinci::rl
