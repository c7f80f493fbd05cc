// How much a skill helps, from two verdicts of the judge.
//
// before = a kernel written without the skill, after = one written with it, each judged against the
// same task and baseline. The uplift is the ratio of their speedups. Each speedup is a paired
// measurement against the baseline, so drift between the two sessions cancels; the sessions are
// independent, so the half-widths of the two intervals add in quadrature, on the logarithms and
// side by side:
//
//   u    = ln(after) - ln(before)                       (medians)
//   low  = u - sqrt((ln after - ln after_low)^2  + (ln before_high - ln before)^2)
//   high = u + sqrt((ln after_high - ln after)^2 + (ln before - ln before_low)^2)
#pragma once

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

// Both must be correct and timed (Outcome::kOk with a speedup, positive numbers); InvalidArgument
// says which one is not and why.
Result<Interval> UpliftOf(const Evaluation& before, const Evaluation& after);

// The ratio after/before of two intervals; median > 0 and 0 <= low <= median <= high.
Interval Ratio(const Interval& after, const Interval& before);

}  // namespace davinci::skill
