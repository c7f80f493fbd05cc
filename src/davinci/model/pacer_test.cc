#include "davinci/model/pacer.h"

#include <gtest/gtest.h>

namespace davinci::model {
namespace {

class FakeTurn final : public DeviceTurn {
 public:
  void Take() override { ++taken; }
  void Leave() override { ++left; }
  bool IsWanted() override { return wanted; }
  int taken = 0;
  int left = 0;
  bool wanted = false;
};

class PacerTest : public testing::Test {
 protected:
  void Run(double ms) { now_ += std::chrono::microseconds(static_cast<int64_t>(ms * 1e3)); }
  Pacer::Clock::time_point now_ = Pacer::Clock::time_point() + std::chrono::hours(1);
  std::shared_ptr<FakeTurn> turn_ = std::make_shared<FakeTurn>();
  Pacer pacer_{turn_, 40, nullptr, [this] { return now_; }};
};

TEST_F(PacerTest, HoldsLongWhilePiecesAreShortAndNobodyWaits) {
  pacer_.Take();
  for (int i = 0; i < 100; ++i) {
    Run(1);
    pacer_.Between();
  }
  EXPECT_LE(turn_->taken, 5);
  EXPECT_GT(pacer_.longest_hold_ms(), 25);
  EXPECT_LE(pacer_.longest_hold_ms(), 32);
}

TEST_F(PacerTest, LeavesAtOnceWhenSomebodyWaits) {
  pacer_.Take();
  turn_->wanted = true;
  Run(1);
  pacer_.Between();
  EXPECT_EQ(turn_->left, 1);
  EXPECT_EQ(turn_->taken, 2);
}

TEST_F(PacerTest, LongPiecesLeaveRoomForOneAsLong) {
  pacer_.Take();
  for (int i = 0; i < 50; ++i) {
    Run(i % 10 == 0 ? 18 : 1);  // delayed by other processes now and then
    pacer_.Between();
  }
  EXPECT_LE(pacer_.longest_hold_ms(), 40);
}

TEST_F(PacerTest, PiecesShrinkWithTheMeasuredPaceAndWhileSomebodyWaits) {
  EXPECT_EQ(pacer_.Rows(512, 1e6), 512);  // nothing measured yet
  pacer_.Take();
  for (int i = 0; i < 20; ++i) {
    pacer_.Between(64 * 1e6);
    Run(2);
  }
  pacer_.Between();
  // 2 ms for 64 rows: 8 ms for 256.
  EXPECT_EQ(pacer_.Rows(1024, 1e6), 256);
  EXPECT_EQ(pacer_.Rows(100, 1e6), 100);
  EXPECT_EQ(pacer_.Rows(1024, 1e12), 8);
  turn_->wanted = true;
  Run(1);
  pacer_.Between();
  EXPECT_EQ(pacer_.Rows(1024, 1e6), 64);
  Run(1000);
  EXPECT_EQ(pacer_.Rows(1024, 1e6), 256);
}

TEST(Pacer, WithoutATurnNothingIsHeldOrCut) {
  Pacer pacer(nullptr, 40, nullptr);
  pacer.Take();
  pacer.Between(1e9);
  pacer.Leave();
  EXPECT_EQ(pacer.Rows(1 << 20, 1e12), 1 << 20);
  EXPECT_EQ(pacer.longest_hold_ms(), 0);
}

}  // namespace
}  // namespace davinci::model
