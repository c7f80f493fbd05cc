#include "davinci/embedded/device_turn.h"

#include <gtest/gtest.h>

namespace davinci::embedded {
namespace {

// The judge times under "cpu" and "cuda0" (judge/examination.cc): another name excludes nobody.
TEST(DeviceTurn, HasTheJudgesNameOfTheDevice) {
  EXPECT_EQ(LeaseName("cpu"), "cpu");
  EXPECT_EQ(LeaseName("cuda:0"), "cuda0");
  EXPECT_EQ(LeaseName("cuda:11"), "cuda11");
}

TEST(DeviceTurn, TheHostsMemoryHasNoBook) {
  const auto booking = BookDeviceMemory("cpu", int64_t{1} << 40);
  ASSERT_TRUE(booking.ok());
  EXPECT_EQ(*booking, nullptr);
}

}  // namespace
}  // namespace davinci::embedded
