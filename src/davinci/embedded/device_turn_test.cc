#include "davinci/embedded/device_turn.h"

#include <gtest/gtest.h>

#include <memory>

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

class CountingTurn final : public model::DeviceTurn {
 public:
  void Take() override { ++taken; }
  void Leave() override { ++left; }
  bool IsWanted() override { return false; }
  int taken = 0, left = 0;
};

TEST(DeviceTurn, IsLeftWhenTheLastOfThoseWhoHoldItIsGone) {
  const auto turn = std::make_shared<CountingTurn>();
  auto held = HoldTurn(turn);
  ASSERT_NE(held, nullptr);
  auto also = held;
  held.reset();
  EXPECT_EQ(turn->taken, 1);
  EXPECT_EQ(turn->left, 0);
  also.reset();
  EXPECT_EQ(turn->left, 1);
}

TEST(DeviceTurn, TheHostsMemoryHasNoBook) {
  const auto booking = BookDeviceMemory("cpu", int64_t{1} << 40);
  ASSERT_TRUE(booking.ok());
  EXPECT_EQ(*booking, nullptr);
}

}  // namespace
}  // namespace davinci::embedded
