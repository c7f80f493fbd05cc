#include "davinci/data/shown_interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace davinci {
namespace {

TEST(ShownInterval, EndsThatBoundNothingAreNoNumbers) {
  EXPECT_EQ(BoundsText({1.214, 1.36, "99.9 %"}), "1.21 – 1.36");
  EXPECT_EQ(BoundsText({0.0149, 6.73, "99.9 %"}), "0.0149 – 6.73");
  EXPECT_EQ(BoundsText({1.3e-158, 2.5e156, "99.9 %"}), "unbounded");
  EXPECT_EQ(BoundsText({0, 3, "99.9 %"}), "unbounded");
  EXPECT_EQ(BoundsText({1.2, std::numeric_limits<double>::infinity(), "95 %"}), "1.2 – unbounded");
}

TEST(ShownInterval, IsTheOneThatDecides) {
  Speedup speedup;
  speedup.median = 2;
  speedup.low = 1.8;
  speedup.high = 2.2;
  EXPECT_EQ(ShownText(speedup), "95 % interval 1.8 – 2.2; not significant");
  speedup.decided_low = 1.5;
  speedup.decided_high = 2.5;
  speedup.significant = true;
  EXPECT_EQ(ShownText(speedup), "99.9 % interval 1.5 – 2.5");
}

Speedup Measured(double median, double low, double high) {
  return Speedup{median, low, high, low > 1.02 || high < 0.98, "eager"};
}

TEST(SpeedFigure, IsTheMedianOnlyOfANarrowInterval) {
  EXPECT_EQ(FigureText(Measured(3.15, 2.9, 3.4)), "3.15x");
  EXPECT_EQ(FigureText(Measured(1.01, 0.9, 1.1)), "1.01x");
  EXPECT_EQ(FigureText(Measured(7.68, 2.98, 16.5)), "at least 2.98x");
  EXPECT_EQ(FigureText(Measured(7.68, 2.98, INFINITY)), "at least 2.98x");
  EXPECT_EQ(FigureText(Measured(0.2, 0.05, 0.5), "×"), "at most 0.5×");
  EXPECT_EQ(FigureText(Measured(5.72, 0.863, 35)), "not decided");
  EXPECT_EQ(FigureText(Measured(0.9, 0.000106, 4.81e5)), "not decided");
  EXPECT_EQ(FigureText(Speedup{}), "not decided");
  EXPECT_EQ(SpeedupText(Measured(5.72, 0.863, 35)),
            "not decided over eager (95 % interval 0.863 – 35; not significant)");
}

TEST(SpeedFinding, IsANoOnlyWhereAGainIsRuledOut) {
  EXPECT_EQ(FindingOf(Measured(3.15, 2.9, 3.4)), SpeedFinding::kFaster);
  EXPECT_EQ(FindingOf(Measured(0.5, 0.4, 0.6)), SpeedFinding::kSlower);
  EXPECT_EQ(FindingOf(Measured(1.0, 0.9, 1.1)), SpeedFinding::kNoGain);
  EXPECT_EQ(FindingOf(Measured(5.72, 0.863, 35)), SpeedFinding::kNotDecided);
  EXPECT_EQ(FindingOf(Measured(1.3, 0.95, 1.6)), SpeedFinding::kNotDecided);
  EXPECT_EQ(FindingOf(Measured(0.6, 0.3, 1.0)), SpeedFinding::kNoGain);
  EXPECT_EQ(FindingOf(Speedup{}), SpeedFinding::kNotDecided);
}

TEST(SureSpeedup, OrdersByWhatIsSure) {
  EXPECT_GT(SureSpeedup(Measured(3.15, 3.0, 3.3)), SureSpeedup(Measured(5.72, 0.863, 35)));
  EXPECT_EQ(SureSpeedup(Measured(1, 0.000106, 4.81e5)), 0);
}

}  // namespace
}  // namespace davinci
