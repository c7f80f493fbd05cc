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

}  // namespace davinci
