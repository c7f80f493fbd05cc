#include "davinci/data/shown_interval.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace davinci
