// The sequential test of a paired experiment: after each pair, is it decided? Pure numbers.
//
// Pairs are drawn one after another and looked at from the third on, at most kMaxPairs. Two
// endpoints, each with its own error rate, so that a skill without any effect enters with a
// probability of at most 5 %:
//
//   speed        The kernels that are correct and timed, with the skill against without it: the
//                difference of the means of ln(speedup) within each task, and a one-sided t test
//                with the spread within arms and tasks pooled. All correct kernels count, not only
//                those whose partner is correct, too: at 50 % correctness that is twice as many.
//                It takes three on each side. Every look has the same level (kLookQuantile, 0.5 %),
//                so that the chance that ANY of the ten looks (3 to 12 pairs) passes is 2.4 % for
//                normal ln(speedup) of any spread (simulation, trial_simulation.h).
//   correctness  Discordant pairs: gained (correct only with the skill) and lost (only without).
//                Under no effect each is a fair coin. One-sided sign tests at every look:
//                raised   P(at least so many gained) <= 0.0157: 6-0, 9-1; any look: 2.2 %
//                lowered  P(at least so many lost) <= 0.0626: 0-4, 1-6, 2-8; any look: 11.2 %
//                As long as more pairs are lost than gained, nothing is admitted.
//
//   after n pairs                                            verdict
//   correctness lowered                                      refuse
//   speed surely below 1 (upper end, same quantiles)         refuse
//   more lost than gained                                    draw another pair
//   lower end of speed reaches the required uplift           admit, by speed
//   correctness raised                                       admit, by correctness
//   nothing of both even points upward from kFutilePairs on  refuse
//   n = kMaxPairs                                            refuse
//
// The interval of speed uses the quantile of the look as well; it covers the true ratio with at
// least 95 % whenever the experiment stops. docs/results/skills.md has the rates by simulation.
#pragma once

#include <optional>
#include <span>

namespace davinci::agent {

inline constexpr int kMinPairs = 3;
inline constexpr int kMaxPairs = 12;
// Correct, timed kernels on each side without which nothing is said about speed.
inline constexpr int kMinCorrect = 3;
// From so many pairs on, an experiment whose estimates both do not point upward ends.
inline constexpr int kFutilePairs = 6;

// A correct, timed kernel.
struct SpeedSample {
  int task = 0;  // index of the task it was written for
  bool with_skill = false;
  double log_speedup = 0;
};

struct PairedData {
  std::span<const SpeedSample> speeds;
  // What the measurements themselves leave open: half widths of the log ratio. They do not shrink
  // with more pairs, because identical candidates are measured once.
  double measured_low = 0;
  double measured_high = 0;
  int gained = 0;
  int lost = 0;
  int num_pairs = 0;  // drawn, all kinds
};

enum class TrialState { kDrawMore, kAdmit, kRefuse };
enum class TrialReason {
  kUndecided,
  kFaster,
  kMoreOftenCorrect,
  kLowersCorrectness,
  kMayLowerCorrectness,  // at the last pair
  kSlower,
  kFutile,
  kOutOfPairs,
};

struct TrialVerdict {
  TrialState state = TrialState::kDrawMore;
  TrialReason reason = TrialReason::kUndecided;
  // Log ratio: estimate and the interval described above; nothing below three kernels a side.
  bool has_ratio = false;
  double mean = 0;
  double low = 0;
  double high = 0;
};

// `log_uplift`: what the lower end of speed has to reach, logarithm; >= 0. `max_pairs` in
// [kMinPairs, kMaxPairs].
TrialVerdict LookAt(const PairedData& data, double log_uplift, int max_pairs = kMaxPairs);

// P(X >= successes) for X ~ Bin(successes + failures, 1/2); 1 without any.
double SignTestUpper(int successes, int failures);

}  // namespace davinci::agent
