// Does a proposed skill help? The decision of the paired experiment. Pure.
//
// Every pair is one seed of one task, generated once with the skill and once without, everything
// else equal. Two questions are asked:
//
//   correctness  Not fewer correct candidates with the skill than without.
//   uplift       d = ln(speedup with) - ln(speedup without), over the pairs in which both are
//                correct. Lower end = mean - h; it must reach ln(min_uplift).
//                h^2 = (t_{0.975, n-1} s / sqrt n)^2 + m^2, with s the standard deviation of d and
//                m the mean over the pairs of what the measurements themselves leave open (half
//                widths of both intervals in quadrature). m does not shrink with n: identical
//                candidates are measured once, and all pairs then share one error.
//
// Fewer than kMinPairs pairs with both correct are no evidence: refused, with no uplift.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "davinci/data/evaluation.h"
#include "davinci/data/rollout.h"

namespace davinci::agent {

inline constexpr int kMinPairs = 3;

struct AdmissionOptions {
  double min_uplift = 1.05;  // the lower end of the interval has to reach it
};

struct VerificationPair {
  const Evaluation* with_skill = nullptr;
  const Evaluation* without_skill = nullptr;
};

struct AdmissionDecision {
  bool admitted = false;
  std::optional<Interval> uplift;  // geometric mean over the pairs and its 95 % interval
  int num_pairs = 0;               // with both correct and timed
  int correct_with = 0;
  int correct_without = 0;
  std::string reason;  // one sentence
};

// Judge errors are nobody's fault: a pair that holds one is left out entirely.
AdmissionDecision DecideAdmission(std::span<const VerificationPair> pairs,
                                  const AdmissionOptions& options);

}  // namespace davinci::agent
