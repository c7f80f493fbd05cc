#include "davinci/agent/admission.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace davinci::agent {
namespace {

bool Correct(const Evaluation& evaluation) { return evaluation.outcome == Outcome::kOk; }

bool Timed(const Evaluation& evaluation) {
  return Correct(evaluation) && evaluation.speedup && evaluation.speedup->median > 0;
}

// Upper and lower half width of a speedup on the log scale; infinite when unbounded.
double Up(const Speedup& s) { return std::log(s.high / s.median); }
double Down(const Speedup& s) {
  return s.low > 0 ? std::log(s.median / s.low) : std::numeric_limits<double>::infinity();
}

std::string ReasonText(const AdmissionDecision& decision, double min_uplift, int num_drawn) {
  const std::string uplift =
      decision.uplift ? fmt::format("uplift {:.3f} [{:.3f}, {:.3f}]", decision.uplift->median,
                                    decision.uplift->low, decision.uplift->high)
                      : std::string("too few correct kernels for an uplift");
  const std::string correct = fmt::format(
      "correct {} of {} with the skill, {} without (only with {}, only without {})",
      decision.correct_with, num_drawn, decision.correct_without, decision.gained, decision.lost);
  switch (decision.why) {
    case TrialReason::kUndecided:
      return fmt::format("undecided after {} pairs: {}; {}", num_drawn, uplift, correct);
    case TrialReason::kFaster:
      return fmt::format("faster: {}; {}", uplift, correct);
    case TrialReason::kMoreOftenCorrect:
      return fmt::format("more often correct: {}; {}", correct, uplift);
    case TrialReason::kLowersCorrectness:
      return fmt::format("it lowers correctness: {}; {}", correct, uplift);
    case TrialReason::kMayLowerCorrectness:
      return fmt::format("it may lower correctness: {}; {}", correct, uplift);
    case TrialReason::kSlower:
      return fmt::format("slower: {}; {}", uplift, correct);
    case TrialReason::kFutile:
      return fmt::format("neither speed nor correctness points upward: {}; {}", uplift, correct);
    case TrialReason::kOutOfPairs:
      return fmt::format("no proof in {} pairs: {}, its lower end has to reach {:.3g}; {}",
                         num_drawn, uplift, min_uplift, correct);
  }
  return "";
}

}  // namespace

AdmissionDecision DecideAdmission(std::span<const VerificationPair> pairs,
                                  const AdmissionOptions& options) {
  AdmissionDecision decision;
  std::vector<SpeedSample> speeds;
  PairedData data;
  data.num_pairs = static_cast<int>(pairs.size());
  // Half widths, summed: below and above, without and with the skill.
  std::array<double, 2> down = {0, 0};
  std::array<double, 2> up = {0, 0};
  for (const VerificationPair& pair : pairs) {
    const Evaluation& with = *pair.with_skill;
    const Evaluation& without = *pair.without_skill;
    if (with.outcome == Outcome::kJudgeError || without.outcome == Outcome::kJudgeError) continue;
    decision.correct_with += Correct(with);
    decision.correct_without += Correct(without);
    data.gained += Correct(with) && !Correct(without);
    data.lost += !Correct(with) && Correct(without);
    for (const Evaluation* one : {&without, &with}) {
      if (!Timed(*one)) continue;
      const bool has_skill = one == &with;
      speeds.push_back({pair.task, has_skill, std::log(one->speedup.value().median)});
      ++(has_skill ? decision.timed_with : decision.timed_without);
      down[has_skill] += Down(one->speedup.value());
      up[has_skill] += Up(one->speedup.value());
    }
  }
  if (decision.timed_with > 0 && decision.timed_without > 0) {
    data.measured_low = std::hypot(down[1] / decision.timed_with, up[0] / decision.timed_without);
    data.measured_high = std::hypot(up[1] / decision.timed_with, down[0] / decision.timed_without);
  }
  data.speeds = speeds;
  const TrialVerdict verdict = LookAt(data, std::log(options.min_uplift), options.max_pairs);
  decision.decided = verdict.state != TrialState::kDrawMore;
  decision.admitted = verdict.state == TrialState::kAdmit;
  decision.why = verdict.reason;
  decision.gained = data.gained;
  decision.lost = data.lost;
  if (verdict.has_ratio)
    decision.uplift =
        Interval{std::exp(verdict.mean), std::exp(verdict.low), std::exp(verdict.high)};
  decision.reason = ReasonText(decision, options.min_uplift, data.num_pairs);
  return decision;
}

}  // namespace davinci::agent
