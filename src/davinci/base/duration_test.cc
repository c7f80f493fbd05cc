#include "davinci/base/duration.h"

#include <gtest/gtest.h>

namespace davinci {
namespace {

TEST(DurationText, HasTwoUnitsAtMost) {
  EXPECT_EQ(DurationText(0.84), "0.8 s");
  EXPECT_EQ(DurationText(59.7), "1 min 0 s");
  EXPECT_EQ(DurationText(7325), "2 h 2 min");
  EXPECT_EQ(DurationText(3 * 86400 + 4 * 3600), "3 d 4 h");
  EXPECT_EQ(DurationText(-1), "?");
}

TEST(Eta, IsThePaceOfThisProcessForWhatIsLeft) {
  const Eta eta(/*before=*/10, /*total=*/40);
  EXPECT_EQ(eta.Text(10, 5), "") << "nothing is done yet";
  EXPECT_EQ(eta.Text(20, 100), "  ETA 3 min 20 s");
  EXPECT_EQ(eta.Text(40, 300), "");
}

}  // namespace
}  // namespace davinci
