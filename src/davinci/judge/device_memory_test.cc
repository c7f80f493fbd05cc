#include "davinci/judge/device_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "davinci/base/files.h"

namespace davinci::judge {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(DeviceMemory, SmallEvaluationsWaitForNobody) { EXPECT_EQ(PartsFor(kGiB, 140 * kGiB), 0); }

TEST(DeviceMemory, LargeOnesTakeWhatTheyNeedAndNeverMoreThanAll) {
  EXPECT_EQ(PartsFor(14 * kGiB, 140 * kGiB), 1);
  EXPECT_EQ(PartsFor(40 * kGiB, 140 * kGiB), 3);
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

TEST(DeviceMemory, PartsAndSmallOnesTogetherFit) {
  // Eight in flight, none of them larger than what takes no part.
  const int64_t small = 140 * kGiB / 64 - 1;
  ASSERT_EQ(PartsFor(small, 140 * kGiB), 0);
  const int64_t part = 140 * kGiB / 8 * 7 / kMemoryParts;
  EXPECT_EQ(PartsFor(part, 140 * kGiB), 1);
  EXPECT_EQ(PartsFor(part + 1, 140 * kGiB), 2);
  EXPECT_LE(kMemoryParts * part + 8 * small, 140 * kGiB);
}

TEST(DeviceMemory, WhoIsAloneWaitsForTheCrowdAndKeepsItOut) {
  auto folder = MakeTempDir("leases");
  ASSERT_TRUE(folder.ok());
  auto leases = gpu::DeviceLeases::Open(folder->path());
  ASSERT_TRUE(leases.ok());
  auto first = JoinCrowd(leases->get(), "cuda0", false, "test");
  auto second = JoinCrowd(leases->get(), "cuda0", false, "test");
  ASSERT_TRUE(first.ok() && second.ok());
  std::atomic<bool> granted = false;
  std::jthread waits([&] {
    auto alone = JoinCrowd(leases->get(), "cuda0", true, "test");
    granted = alone.ok();
  });
  first->Release();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(granted);
  second->Release();
  waits.join();
  EXPECT_TRUE(granted);
}

}  // namespace
}  // namespace davinci::judge
