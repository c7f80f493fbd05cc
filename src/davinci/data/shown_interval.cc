#include "davinci/data/shown_interval.h"

#include <fmt/format.h>

#include <cmath>

namespace davinci {

ShownInterval Shown(const Speedup& speedup) {
  if (speedup.decided_low > 0 || std::isfinite(speedup.decided_high))
    return {speedup.decided_low, speedup.decided_high, "99.9 %"};
  return {speedup.low, speedup.high, "95 %"};
}

std::string ShownText(const Speedup& speedup) {
  const ShownInterval shown = Shown(speedup);
  return fmt::format("{} interval {:.3g} – {:.3g}{}", shown.level, shown.low, shown.high,
                     speedup.significant ? "" : "; not significant");
}

}  // namespace davinci
