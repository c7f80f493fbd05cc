#include "davinci/embedded/device_turn.h"

#include <gtest/gtest.h>

namespace davinci::embedded {
namespace {

// The judge times under "cpu" and a device's uuid (judge/trial/trial.h): a lease of another name
// excludes nothing.
TEST(DeviceTurn, HasTheJudgesNameOfTheDevice) {
  std::vector<gpu::DeviceInfo> visible(2);
  visible[0].uuid = "GPU-b";
  visible[1].uuid = "GPU-a";
  EXPECT_EQ(LeaseName("cpu", visible), "cpu");
  EXPECT_EQ(LeaseName("cuda:0", visible), "GPU-b");
  EXPECT_EQ(LeaseName("cuda:1", visible), "GPU-a");
  EXPECT_EQ(LeaseName("cuda:2", visible), "cuda:2");
}

TEST(DeviceTurn, TheHostsMemoryHasNoBook) {
  const auto booking = BookDeviceMemory("cpu", int64_t{1} << 40);
  ASSERT_TRUE(booking.ok());
  EXPECT_EQ(*booking, nullptr);
}

}  // namespace
}  // namespace davinci::embedded
