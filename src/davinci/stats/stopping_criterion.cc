#include "davinci/stats/stopping_criterion.h"

#include <algorithm>
#include <cmath>

namespace davinci::stats {
namespace {

constexpr double kLookGrowth = 1.2;
constexpr double kWarmupBudgetFraction = 0.05;
constexpr int kMaxWarmupCalls = 10;

// The normal distribution's 99.9 % interval over its 95 % one: what significance asks for.
constexpr double kSignificanceFactor = 3.2905 / 1.96;

int RoundUpToEven(int n) { return n + (n & 1); }

// Widths add in quadrature, on the log scale: `whole` is of sampling and of what processes differ
// by, and the latter is there however many pairs are taken.
bool NothingToGain(const PairedRatio& whole, const PairedRatio& sampling, double share,
                   double band) {
  const double width = std::log(whole.high / whole.low) / 2;
  const double own = std::log(sampling.high / sampling.low) / 2;
  if (!std::isfinite(width) || own > share * width) return false;
  const double between = std::sqrt(width * width - own * own);
  const double needed = kSignificanceFactor * between - std::log1p(-band);
  return whole.significant || std::abs(std::log(whole.median)) <= needed;
}

}  // namespace

Result<MeasurementPlan> PlanMeasurement(double baseline_seconds, const StoppingOptions& options) {
  if (!(baseline_seconds > 0) || !std::isfinite(baseline_seconds))
    return InvalidArgument("measurement plan: the baseline's time must be positive and finite");
  if (options.min_pairs < 2 || options.max_pairs < options.min_pairs ||
      !(options.budget_seconds > 0) || !(options.target_relative_half_width > 0) ||
      !(options.target_of_effect >= 0) || !(options.per_call_overhead_seconds >= 0))
    return InvalidArgument(
        "measurement plan: needs 2 <= min_pairs <= max_pairs, a budget and a target above 0, an "
        "overhead >= 0");
  // A pair as expensive as if the candidate cost what the baseline costs: its own cost must not
  // decide.
  const double per_pair = 2 * (baseline_seconds + options.per_call_overhead_seconds);
  const double affordable = std::min(options.budget_seconds / per_pair, 1e6);
  MeasurementPlan plan;
  plan.max_pairs = std::clamp(static_cast<int>(affordable) & ~1, kHardMinPairs,
                              std::max(options.max_pairs & ~1, kHardMinPairs));
  plan.min_pairs =
      std::clamp(RoundUpToEven(options.min_pairs),
                 std::min(kHardMinPairs, RoundUpToEven(options.min_pairs)), plan.max_pairs);
  plan.budget_seconds = options.budget_seconds;
  plan.warmup_calls =
      std::clamp(static_cast<int>(kWarmupBudgetFraction * affordable), 1, kMaxWarmupCalls);
  return plan;
}

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kContinue:
      return "continue";
    case StopReason::kPrecise:
      return "precise";
    case StopReason::kNothingToGain:
      return "nothing to gain";
    case StopReason::kClearlySlow:
      return "clearly slow";
    case StopReason::kMaxPairs:
      return "most pairs";
    case StopReason::kBudget:
      return "budget";
  }
  return "unknown";
}

Result<StopDecision> StoppingCriterion::Look(std::span<const PairedSample> pairs,
                                             double elapsed_seconds) {
  const int n = static_cast<int>(pairs.size());
  StopDecision decision;
  if (n < 2 || n % 2 != 0) return decision;
  if (n >= plan_.max_pairs) {
    decision.reason = StopReason::kMaxPairs;
  } else if (elapsed_seconds >= plan_.budget_seconds) {
    const bool far_over = elapsed_seconds >= kBudgetOverrun * plan_.budget_seconds;
    if (n >= (far_over ? std::min(kLeastPairs, plan_.min_pairs) : plan_.min_pairs))
      decision.reason = StopReason::kBudget;
  }
  const bool may_look = n >= plan_.min_pairs && n >= next_look_;
  if (!may_look && !decision.stop()) return decision;
  next_look_ = RoundUpToEven(static_cast<int>(std::ceil(n * kLookGrowth)));

  PairedRatioOptions ratio_options = options_.ratio;
  ratio_options.half_width_factor *= kLookingFactor;
  DAVINCI_ASSIGN_OR_RETURN(const PairedRatio ratio, ComputePairedRatio(pairs, ratio_options));
  decision.ratio = ratio;
  // Between-process spread does not shrink with more pairs of the same processes, so the target is
  // about the rest.
  PairedRatioOptions within = ratio_options;
  within.between_process_log_sd = within.between_process_seconds = 0;
  DAVINCI_ASSIGN_OR_RETURN(const PairedRatio sampling, ComputePairedRatio(pairs, within));
  const double target = std::max(options_.target_relative_half_width,
                                 options_.target_of_effect * std::abs(std::log(ratio.median)));
  if (n >= plan_.min_pairs && RelativeHalfWidth(sampling) <= target) {
    decision.reason = StopReason::kPrecise;
  } else if (n >= plan_.min_pairs && ratio.high < options_.clearly_slow_below) {
    decision.reason = StopReason::kClearlySlow;
  } else if (n >= plan_.min_pairs &&
             NothingToGain(ratio, sampling, options_.sampling_share_of_width,
                           options_.ratio.band)) {
    decision.reason = StopReason::kNothingToGain;
  }
  return decision;
}

}  // namespace davinci::stats
