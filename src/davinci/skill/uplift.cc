#include "davinci/skill/uplift.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace davinci::skill {
namespace {

Result<Interval> SpeedupOf(const Evaluation& evaluation, std::string_view which) {
  if (evaluation.outcome != Outcome::kOk)
    return InvalidArgument(fmt::format("the kernel {} the skill is no evidence: {}{}{}", which,
                                       OutcomeName(evaluation.outcome),
                                       evaluation.message.empty() ? "" : ": ", evaluation.message));
  if (evaluation.correct != true || !evaluation.speedup)
    return InvalidArgument(
        fmt::format("the kernel {} the skill is no evidence: it was not timed", which));
  const Speedup& s = *evaluation.speedup;
  if (!(s.low > 0 && s.median >= s.low && s.high >= s.median))
    return InvalidArgument(
        fmt::format("the kernel {} the skill is no evidence: its speedup is {} ({} to {})", which,
                    s.median, s.low, s.high));
  return Interval{s.median, s.low, s.high};
}

}  // namespace

Interval Ratio(const Interval& after, const Interval& before) {
  const double u = std::log(after.median) - std::log(before.median);
  // A bound of 0 or infinity has an infinite half-width, which hypot passes on.
  const double down = std::hypot(std::log(after.median) - std::log(after.low),
                                 std::log(before.high) - std::log(before.median));
  const double up = std::hypot(std::log(after.high) - std::log(after.median),
                               std::log(before.median) - std::log(before.low));
  return {std::exp(u), std::exp(u - down), std::exp(u + up)};
}

Result<Interval> UpliftOf(const Evaluation& before, const Evaluation& after) {
  DAVINCI_ASSIGN_OR_RETURN(const Interval without, SpeedupOf(before, "without"));
  DAVINCI_ASSIGN_OR_RETURN(const Interval with, SpeedupOf(after, "with"));
  if (before.speedup.value().baseline != after.speedup.value().baseline)
    return InvalidArgument(fmt::format("the kernels were compared with different baselines: {}, {}",
                                       before.speedup.value().baseline,
                                       after.speedup.value().baseline));
  return Ratio(with, without);
}

}  // namespace davinci::skill
