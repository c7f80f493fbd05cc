#include "davinci/judge/device_memory.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::judge {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(DeviceMemory, SmallEvaluationsWaitForNobody) { EXPECT_EQ(PartsFor(kGiB, 140 * kGiB), 0); }

TEST(DeviceMemory, LargeOnesTakeWhatTheyNeedAndNeverMoreThanAll) {
  EXPECT_EQ(PartsFor(20 * kGiB, 140 * kGiB), 1);
  EXPECT_EQ(PartsFor(40 * kGiB, 140 * kGiB), 2);
  EXPECT_EQ(PartsFor(1000 * kGiB, 140 * kGiB), kMemoryParts);
  EXPECT_EQ(PartsFor(kGiB, 0), 0);  // unknown size: nothing to share out
}

TEST(DeviceMemory, APartIsHeldByOneAtATime) {
  auto folder = MakeTempDir("leases");
  ASSERT_TRUE(folder.ok());
  auto leases = gpu::DeviceLeases::Open(folder->path());
  ASSERT_TRUE(leases.ok());
  auto all = AcquireMemory(leases->get(), "cuda0", kMemoryParts, "test");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), size_t{kMemoryParts});
  gpu::LeaseRequest soon;
  soon.mode = gpu::LeaseMode::kExclusive;
  soon.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_FALSE((*leases)->Acquire("cuda0-memory-2", soon).ok());
  all->clear();
  EXPECT_TRUE(AcquireMemory(leases->get(), "cuda0", 1, "test").ok());
}

}  // namespace
}  // namespace davinci::judge
