#include "davinci/agent/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "davinci/judge/stats/summary.h"

namespace davinci::agent {
namespace {

bool Timed(const Evaluation& evaluation) {
  return evaluation.outcome == Outcome::kOk && evaluation.speedup && evaluation.speedup->median > 0;
}

// Upper and lower half width of a speedup on the log scale; infinite when unbounded.
double Up(const Speedup& s) { return std::log(s.high / s.median); }
double Down(const Speedup& s) {
  return s.low > 0 ? std::log(s.median / s.low) : std::numeric_limits<double>::infinity();
}

}  // namespace

AdmissionDecision DecideAdmission(std::span<const VerificationPair> pairs,
                                  const AdmissionOptions& options) {
  AdmissionDecision decision;
  std::vector<double> differences;
  double measured_low = 0, measured_high = 0;
  for (const VerificationPair& pair : pairs) {
    const Evaluation& with = *pair.with_skill;
    const Evaluation& without = *pair.without_skill;
    if (with.outcome == Outcome::kJudgeError || without.outcome == Outcome::kJudgeError) continue;
    decision.correct_with += with.outcome == Outcome::kOk;
    decision.correct_without += without.outcome == Outcome::kOk;
    if (!Timed(with) || !Timed(without)) continue;
    differences.push_back(std::log(with.speedup->median / without.speedup->median));
    measured_low += std::hypot(Down(*with.speedup), Up(*without.speedup));
    measured_high += std::hypot(Up(*with.speedup), Down(*without.speedup));
  }
  decision.num_pairs = static_cast<int>(differences.size());
  if (decision.num_pairs < kMinPairs) {
    decision.reason = fmt::format(
        "only {} pairs are correct on both sides, {} are needed (correct with the "
        "skill {}, without {})",
        decision.num_pairs, kMinPairs, decision.correct_with, decision.correct_without);
    return decision;
  }
  const double n = decision.num_pairs;
  double mean = 0;
  for (const double d : differences) mean += d / n;
  double squares = 0;
  for (const double d : differences) squares += (d - mean) * (d - mean);
  const double sampling =
      judge::StudentT975(decision.num_pairs - 1) * std::sqrt(squares / (n - 1) / n);
  decision.uplift =
      Interval{std::exp(mean), std::exp(mean - std::hypot(sampling, measured_low / n)),
               std::exp(mean + std::hypot(sampling, measured_high / n))};
  const Interval& uplift = *decision.uplift;
  const std::string numbers = fmt::format("{:.3f} [{:.3f}, {:.3f}] over {} pairs", uplift.median,
                                          uplift.low, uplift.high, decision.num_pairs);
  if (decision.correct_with < decision.correct_without) {
    decision.reason =
        fmt::format("correctness falls from {} to {} of the same generations (uplift {})",
                    decision.correct_without, decision.correct_with, numbers);
  } else if (uplift.low < options.min_uplift) {
    decision.reason =
        fmt::format("uplift {}: its lower end does not reach {:.3g}", numbers, options.min_uplift);
  } else {
    decision.admitted = true;
    decision.reason = fmt::format("uplift {}", numbers);
  }
  return decision;
}

}  // namespace davinci::agent
