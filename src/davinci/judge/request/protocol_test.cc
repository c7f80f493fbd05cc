#include "davinci/judge/request/protocol.h"

#include <gtest/gtest.h>

namespace davinci::judge {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(MemoryWithin, LeavesASmallMachineSomeOfItsMemory) {
  EXPECT_EQ(MemoryWithin(16 * kGiB, 10 * kGiB), 6 * kGiB);
  EXPECT_EQ(MemoryWithin(16 * kGiB, 512 * kGiB), 16 * kGiB);
  EXPECT_EQ(MemoryWithin(16 * kGiB, 0), 16 * kGiB);
}

}  // namespace
}  // namespace davinci::judge
