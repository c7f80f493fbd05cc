#include "davinci/agent/trigger.h"

#include <fmt/format.h>

#include <cmath>

namespace davinci::agent {
namespace {

bool HasSpeedup(const Evaluation& turn) { return turn.speedup && turn.speedup->median > 0; }

}  // namespace

double SureGain(const Speedup& later, const Speedup& first) {
  if (!(later.low > 0) || !std::isfinite(first.high)) return 0;
  const double down = std::log(later.median / later.low);
  const double up = std::log(first.high / first.median);
  return later.median / first.median * std::exp(-std::hypot(down, up));
}

TriggerDecision DecideTrigger(std::span<const Evaluation> turns, const TriggerOptions& options) {
  TriggerDecision decision;
  if (turns.empty()) {
    decision.reason = "no turn was judged";
    return decision;
  }
  const Evaluation& first = turns.front();
  const auto speed = [&](const Evaluation& turn) {
    return options.as_published ? turn.speedup->median : turn.speedup->low;
  };
  for (size_t i = 1; i < turns.size(); ++i) {
    if (!HasSpeedup(turns[i])) continue;
    if (decision.best < 0 || speed(turns[i]) > speed(turns[decision.best]))
      decision.best = static_cast<int>(i);
  }
  if (decision.best < 0) {
    decision.reason = "no turn after the first has a speedup";
    return decision;
  }
  const Evaluation& best = turns[decision.best];
  if (HasSpeedup(first)) {
    decision.gain = best.speedup.value().median / first.speedup.value().median;
    decision.gain_low = SureGain(best.speedup.value(), first.speedup.value());
  } else if (options.require_first_correct) {
    decision.reason = "turn 1 has no speedup";
    return decision;
  }
  const std::string_view what = options.as_published ? "median" : "lower end";
  if (speed(best) < options.min_speedup) {
    decision.reason = fmt::format("the {} of the best speedup, {:.3g}, is below {:.3g}", what,
                                  speed(best), options.min_speedup);
    return decision;
  }
  if (HasSpeedup(first)) {
    const double gain = options.as_published ? decision.gain : decision.gain_low;
    if (gain < options.min_gain) {
      decision.reason = fmt::format("the {} of the gain over turn 1, {:.3g}, is below {:.3g}", what,
                                    gain, options.min_gain);
      return decision;
    }
  }
  decision.fire = true;
  decision.reason = fmt::format("turn {} is {:.2f} times as fast as the baseline",
                                decision.best + 1, best.speedup.value().median);
  if (HasSpeedup(first))
    decision.reason += fmt::format(", {:.2f} times as fast as turn 1", decision.gain);
  return decision;
}

}  // namespace davinci::agent
