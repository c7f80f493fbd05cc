// Does a proposed skill help? The decision of the paired experiment. Pure.
//
// Every pair is one seed of one task, generated once with the skill and once without, everything
// else equal. sequential_rule.h states the two endpoints (speed, correctness), when another pair is
// drawn, and the error rates.
//
// What the measurements leave open joins the spread of the kernels in quadrature: the half widths
// of the intervals, averaged over each arm.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "davinci/agent/sequential_rule.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/rollout.h"

namespace davinci::agent {

struct AdmissionOptions {
  double min_uplift = 1.05;  // the lower end of the interval has to reach it
  int max_pairs = kMaxPairs;
};

struct VerificationPair {
  const Evaluation* with_skill = nullptr;
  const Evaluation* without_skill = nullptr;
  int task = 0;  // index of the task the pair was taken on
};

struct AdmissionDecision {
  bool decided = false;  // false: another pair is needed
  bool admitted = false;
  TrialReason why = TrialReason::kUndecided;
  // Ratio of geometric means and an interval of at least 95 %, wherever the experiment
  // stopped; nothing with fewer than kMinCorrect timed kernels on a side.
  std::optional<Interval> uplift;
  int timed_with = 0;  // correct and timed kernels
  int timed_without = 0;
  int correct_with = 0;
  int correct_without = 0;
  int gained = 0;      // pairs correct only with the skill
  int lost = 0;        // pairs correct only without it
  std::string reason;  // one sentence
};

// `pairs`: all that were drawn so far. Judge errors count for neither arm: a pair that holds one is
// left out, but counts as drawn, so that the experiment ends.
AdmissionDecision DecideAdmission(std::span<const VerificationPair> pairs,
                                  const AdmissionOptions& options);

}  // namespace davinci::agent
