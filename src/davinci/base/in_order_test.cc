#include "davinci/base/in_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

namespace davinci {
namespace {

TEST(InOrder, TakesAscendingWhateverIsMadeFirst) {
  std::vector<size_t> expected(40);
  std::iota(expected.begin(), expected.end(), size_t{0});
  for (const size_t threads : {1, 4}) {
    std::vector<size_t> taken;
    const Status status = MakeInOrder(
        expected.size(), threads,
        [](size_t i) -> Result<size_t> {
          if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return i;
        },
        [&](size_t, size_t value) {
          taken.push_back(value);
          return Status::Ok();
        });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(taken, expected);
  }
}

TEST(InOrder, ReportsTheFirstFailureAndTakesNothingBehindIt) {
  std::vector<size_t> taken;
  const Status status = MakeInOrder(
      20, 4,
      [](size_t i) -> Result<size_t> {
        if (i == 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (i == 3 || i == 5) return InvalidArgument(std::to_string(i));
        return i;
      },
      [&](size_t, size_t value) {
        taken.push_back(value);
        return Status::Ok();
      });
  EXPECT_EQ(status.message(), "3");
  EXPECT_THAT(taken, testing::ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace davinci
