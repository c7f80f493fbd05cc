// A speedup in tables, reports, messages and prompts: which interval is shown, whether its median
// may stand as a number, and what it says of the two sides. One definition each, for all of them.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "davinci/data/evaluation.h"

namespace davinci {

// 99.9 % interval, which `significant` is decided with; of documents that hold only a 95 %
// interval, that one.
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

// Widest interval, upper over lower end, whose median is printed. A wider one does not tell
// whether the median is right within 40 %.
inline constexpr double kWidestForANumber = 2;
bool IsNarrow(const ShownInterval& interval);

// What may stand as the number of a speedup.
struct SpeedFigure {
  enum class Kind {
    kMedian,   // narrow interval
    kAtLeast,  // wide, but surely faster: the lower end
    kAtMost,   // wide, but surely slower: the upper end
    kNone,     // wide, and either may be faster
  };
  Kind kind = Kind::kNone;
  double value = 0;  // 0 with kNone
};
SpeedFigure FigureOf(const Speedup& speedup);
// "3.05x", "at least 2.98x", "at most 0.412x", "not decided".
std::string FigureText(const Speedup& speedup, std::string_view sign = "x");

// The speedup that is sure: the lower end of the shown interval, 0 where nothing bounds it. Orders
// kernels wherever the best of several is shown.
double SureSpeedup(const Speedup& speedup);

enum class SpeedFinding {
  kFaster,      // significant
  kSlower,      // significant
  kNoGain,      // not significant, and the interval ends below kGainToRuleOut
  kNotDecided,  // not significant, and a gain worth having may be there: measure again
};
inline constexpr double kGainToRuleOut = 1.25;
SpeedFinding FindingOf(const Speedup& speedup);
// Significantly faster than the baseline, with a median above `p` (>= 1).
bool IsFaster(const Speedup& speedup, double p = 1);

// "3.05x over eager (99.9 % interval 3.01 – 3.1)".
std::string SpeedupText(const Speedup& speedup);

}  // namespace davinci
