#include "davinci/base/placement.h"

#include <gtest/gtest.h>

namespace davinci {
namespace {

TEST(Placement, WorkStaysAtHomeWhileNoOtherPlaceIsIdler) {
  EXPECT_EQ(PlaceFor({0}, 0, 1), 0u);
  EXPECT_EQ(PlaceFor({1, 0}, 0, 1), 0u) << "home serves the next piece soon";
  EXPECT_EQ(PlaceFor({2, 0}, 0, 1), 1u);
  EXPECT_EQ(PlaceFor({2, 0}, 0, 2), 0u);
  EXPECT_EQ(PlaceFor({5, 4, 3}, 2, 1), 2u);
  EXPECT_EQ(PlaceFor({5, 3, 4}, 0, 1), 1u);
}

}  // namespace
}  // namespace davinci
