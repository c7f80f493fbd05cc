#include "davinci/data/shown_interval.h"

#include <fmt/format.h>

#include <cmath>

namespace davinci {

ShownInterval Shown(const Speedup& speedup) {
  if (speedup.decided_low > 0 || std::isfinite(speedup.decided_high))
    return {speedup.decided_low, speedup.decided_high, "99.9 %"};
  return {speedup.low, speedup.high, "95 %"};
}

bool IsUnbounded(const ShownInterval& interval) {
  constexpr double kWidest = 1e4;
  return !(interval.low > 0) ||
         (std::isfinite(interval.high) && interval.high > kWidest * interval.low);
}

std::string BoundsText(const ShownInterval& interval) {
  if (IsUnbounded(interval)) return "unbounded";
  if (!std::isfinite(interval.high)) return fmt::format("{:.3g} – unbounded", interval.low);
  return fmt::format("{:.3g} – {:.3g}", interval.low, interval.high);
}

std::string ShownText(const Speedup& speedup) {
  const ShownInterval shown = Shown(speedup);
  return fmt::format("{} interval {}{}", shown.level, BoundsText(shown),
                     speedup.significant ? "" : "; not significant");
}

bool IsNarrow(const ShownInterval& interval) {
  return interval.low > 0 && interval.high <= kWidestForANumber * interval.low;
}

SpeedFigure FigureOf(const Speedup& speedup) {
  using Kind = SpeedFigure::Kind;
  const ShownInterval shown = Shown(speedup);
  if (IsNarrow(shown)) return {Kind::kMedian, speedup.median};
  switch (FindingOf(speedup)) {
    case SpeedFinding::kFaster:
      return {Kind::kAtLeast, shown.low};
    case SpeedFinding::kSlower:
      return {Kind::kAtMost, shown.high};
    default:
      return {};
  }
}

std::string FigureText(const Speedup& speedup, std::string_view sign) {
  const SpeedFigure figure = FigureOf(speedup);
  switch (figure.kind) {
    case SpeedFigure::Kind::kMedian:
      return fmt::format("{:.3g}{}", figure.value, sign);
    case SpeedFigure::Kind::kAtLeast:
      return fmt::format("at least {:.3g}{}", figure.value, sign);
    case SpeedFigure::Kind::kAtMost:
      return fmt::format("at most {:.3g}{}", figure.value, sign);
    case SpeedFigure::Kind::kNone:
      break;
  }
  return "not decided";
}

double SureSpeedup(const Speedup& speedup) {
  const ShownInterval shown = Shown(speedup);
  return IsUnbounded(shown) ? 0 : shown.low;
}

SpeedFinding FindingOf(const Speedup& speedup) {
  const ShownInterval shown = Shown(speedup);
  // The ends are asked as well: a document may hold one that contradicts its own flag.
  if (speedup.significant && shown.low > 1) return SpeedFinding::kFaster;
  if (speedup.significant && shown.high < 1) return SpeedFinding::kSlower;
  return shown.high > 0 && shown.high < kGainToRuleOut ? SpeedFinding::kNoGain
                                                       : SpeedFinding::kNotDecided;
}

bool IsFaster(const Speedup& speedup, double p) {
  return FindingOf(speedup) == SpeedFinding::kFaster && speedup.median > p;
}

std::string SpeedupText(const Speedup& speedup) {
  return fmt::format("{} over {} ({})", FigureText(speedup), speedup.baseline, ShownText(speedup));
}

}  // namespace davinci
