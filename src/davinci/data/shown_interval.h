// The interval of a speedup in tables, reports and messages: the one `significant` is decided with.
#pragma once

#include <string>

#include "davinci/data/evaluation.h"

namespace davinci {

// 99.9 % interval; of documents that hold only a 95 % interval, that one.
struct ShownInterval {
  double low = 0;
  double high = 0;  // may be infinite
  std::string level;
};
ShownInterval Shown(const Speedup& speedup);

// A factor of more than 10^4 between the ends: too few calls, or too noisy ones, to bound anything.
bool IsUnbounded(const ShownInterval& interval);
// "1.21 – 1.36", "1.21 – unbounded", or "unbounded".
std::string BoundsText(const ShownInterval& interval);

// "99.9 % interval 1.21 – 1.36" (BoundsText); "…; not significant" where it is not.
std::string ShownText(const Speedup& speedup);

}  // namespace davinci
