// When enough has been measured.
//
// Two decisions, kept apart: PlanMeasurement fixes the counts from the baseline's cost alone,
// before the candidate has been timed, so that a candidate which dawdles in warm-up cannot buy
// itself fewer samples. StoppingCriterion then looks at the pairs as they come and says when the
// interval is tight enough, when the candidate is clearly slow, or when the budget is spent. A
// noisy candidate only buys itself more samples.
//
// It looks only after whole A B B A blocks and at growing distances (each look at least a fifth
// further than the last): a test repeated after every pair stops on its luckiest moment. What luck
// remains is paid for by kLookingFactor: the ratio in the decision carries an interval that much
// wider, and is the one to report (a plain one would cover the truth in 92 % of the cases instead
// of 95 %, see paired_ratio_simulation_test.cc).
//
// Pure: the caller owns the clock and passes the elapsed time.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/stats/paired_ratio.h"

namespace davinci::stats {

struct StoppingOptions {
  double target_relative_half_width = 0.01;  // stop when the interval is at most +-1 % of the ratio
  // … or this share of |ln ratio|: whether a kernel is 3 % or 5 % faster matters, whether it is 3.9
  // or 4.0 times as fast does not.
  double target_of_effect = 0;
  // … or when the sampling error is at most this share of the whole interval's width, the rest
  // being what two processes differ by, and more pairs could not make the difference significant
  // either: 0.2 leaves the interval 2 % wider than it could be, 0.45 12 %, 0.55 20 %. 0 turns it
  // off.
  double sampling_share_of_width = 0;
  int min_pairs = 12;  // rounded up to even; fewer, never below kHardMinPairs, if the budget cannot
                       // hold them at the baseline's cost
  int max_pairs = 200;
  double budget_seconds = 5.0;  // of timed calls and what surrounds them; ends nothing before the
                                // planned minimum (kBudgetOverrun)
  double per_call_overhead_seconds =
      0;  // freezing, writing inputs, comparing: the judge's own cost per call
  // Stop early once the interval lies below this ratio: "clearly slow". 0 turns it off (full
  // protocol).
  double clearly_slow_below = 0;
  PairedRatioOptions ratio;  // its half_width_factor is multiplied by kLookingFactor
};

struct MeasurementPlan {
  int min_pairs = 0;     // even
  int max_pairs = 0;     // even, >= min_pairs
  int warmup_calls = 0;  // of each side, untimed for the result
  double budget_seconds = 0;
};

constexpr double kLookingFactor = 1.15;

// The smallest number of pairs that is ever planned: one block more than Student's interval needs
// to be finite.
constexpr int kHardMinPairs = 6;

// A candidate so slow that the minimum would cost this many budgets ends at two blocks, the fewest
// whose interval has two ends: a verdict never carries an unbounded one.
constexpr double kBudgetOverrun = 4;
constexpr int kLeastPairs = 4;

// `baseline_seconds` is the baseline's own typical call. Fails when it is not positive and finite
// or the options contradict themselves.
Result<MeasurementPlan> PlanMeasurement(double baseline_seconds, const StoppingOptions& options);

enum class StopReason {
  kContinue,
  kPrecise,        // the interval is tight enough
  kNothingToGain,  // the interval is as wide as processes differ, whatever is measured
  kClearlySlow,    // the whole interval is below clearly_slow_below
  kMaxPairs,
  kBudget,
};
std::string_view StopReasonName(StopReason reason);

struct StopDecision {
  StopReason reason = StopReason::kContinue;
  std::optional<PairedRatio> ratio;  // of the pairs so far, whenever this was a look or the end
  bool stop() const { return reason != StopReason::kContinue; }
};

class StoppingCriterion {
 public:
  StoppingCriterion(const MeasurementPlan& plan, const StoppingOptions& options)
      : plan_(plan), options_(options) {}

  // `pairs` are all pairs so far, `elapsed_seconds` the time since the first. Call after every
  // pair. Once it has said stop, take no more: the decision rests on exactly these pairs.
  Result<StopDecision> Look(std::span<const PairedSample> pairs, double elapsed_seconds);

 private:
  MeasurementPlan plan_;
  StoppingOptions options_;
  int next_look_ = 0;
};

}  // namespace davinci::stats
