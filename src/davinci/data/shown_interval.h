// The one interval that people are shown: the one that significance is decided with.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "davinci/data/evaluation.h"

namespace davinci {

struct ShownInterval {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  std::string_view level = "99.9 %";
};

// 99.9 %; 95 % in documents that hold no other.
inline ShownInterval Shown(const Speedup& speedup) {
  if (speedup.decided_low > 0 || std::isfinite(speedup.decided_high))
    return {speedup.decided_low, speedup.decided_high};
  return {speedup.low, speedup.high, "95 %"};
}

}  // namespace davinci
