// What a Summary call is worth (design 6, R7): the gain that the verification of its proposals
// proves, bounded. Pure.
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

struct SummaryRewardOptions {
  double log_cap = 1.791759469228055;  // ln 6: no lucky measurement dominates a batch
  double refused_penalty = -0.1;       // a proposal the library would not take
  double unreadable_penalty = -0.2;    // a reply that no proposal can be read from
};

// The best of the call's proposals: clip(ln(uplift_low), 0, log_cap) where one was verified, else 0
// where one was undecided, else the penalty of a refused one. `readable` false: the reply could not
// be parsed. A readable reply without proposals (nothing worth a skill) is worth 0. Independent of
// how many proposals were tried, so that proposing more earns nothing by itself.
double SummaryReward(std::span<const ProposalResult> proposals, bool readable,
                     const SummaryRewardOptions& options = {});

}  // namespace davinci::rl
