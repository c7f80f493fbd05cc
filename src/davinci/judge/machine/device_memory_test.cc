#include "davinci/judge/machine/device_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "davinci/base/files.h"

namespace davinci::judge {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

TEST(DeviceMemory, SmallEvaluationsWaitForNobody) { EXPECT_EQ(PartsFor(kGib, 140 * kGib), 0); }

TEST(DeviceMemory, LargeOnesTakeWhatTheyNeedAndNeverMoreThanAll) {
  EXPECT_EQ(PartsFor(3 * kGib, 140 * kGib), 1);
  EXPECT_EQ(PartsFor(40 * kGib, 140 * kGib), 12);
  EXPECT_EQ(PartsFor(40 * kGib, 140 * kGib, MemoryBudget::kHalfMore), 17);
  EXPECT_EQ(PartsFor(kGib, 140 * kGib, MemoryBudget::kAll), kMemoryParts);
  EXPECT_EQ(PartsFor(1000 * kGib, 140 * kGib), kMemoryParts);
  EXPECT_EQ(PartsFor(kGib, 0), 0);  // unknown size: nothing to share out
}

TEST(DeviceMemory, AnUnknownTaskNeedsHalfOfWhatMostOfTheLastOnesDid) {
  ExpectedParts expected;
  for (const int parts : {0, 0, 7}) expected.Described(parts);
  EXPECT_EQ(expected.Expected(), kUnknownParts) << "too few";
  expected.Described(0);
  EXPECT_EQ(expected.Expected(), 4) << "of a few, half of the largest";
  for (int i = 0; i < 32; ++i) expected.Described(0);
  EXPECT_EQ(expected.Expected(), 1) << "one part, while it is described";
  for (int i = 0; i < 3; ++i) expected.Described(kMemoryParts);
  EXPECT_EQ(expected.Expected(), 1) << "one in ten is larger";
  expected.Described(kMemoryParts);
  EXPECT_EQ(expected.Expected(), kUnknownParts) << "never more";
}

TEST(DeviceMemory, APartIsHeldByOneAtATime) {
  auto folder = MakeTempDir("leases");
  ASSERT_TRUE(folder.ok());
  auto leases = gpu::DeviceLeases::Open(folder->path());
  ASSERT_TRUE(leases.ok());
  auto all = AcquireMemory(leases->get(), "GPU-1", kMemoryParts + 1, "test");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), size_t{kMemoryParts});
  gpu::LeaseRequest soon;
  soon.mode = gpu::LeaseMode::kExclusive;
  soon.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_FALSE((*leases)->Acquire("GPU-1-memory-2", soon).ok());
  all->clear();
  EXPECT_TRUE(AcquireMemory(leases->get(), "GPU-1", 1, "test").ok());
}

TEST(DeviceMemory, TheWholeDeviceIsAllButItsResidents) {
  auto folder = MakeTempDir("leases");
  ASSERT_TRUE(folder.ok());
  auto leases = gpu::DeviceLeases::Open(folder->path());
  ASSERT_TRUE(leases.ok());
  auto model = gpu::AcquireResidentMemory(leases->get(), "GPU-1", 5, "a model");
  ASSERT_TRUE(model.ok());
  auto all =
      AcquireMemory(leases->get(), "GPU-1", kMemoryParts, "alone");  // does not wait for ever
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), size_t{kMemoryParts - 5});
  all->clear();
  const auto another = gpu::AcquireResidentMemory(leases->get(), "GPU-1", 28, "too large");
  EXPECT_EQ(another.status().code(), StatusCode::kResourceExhausted);
  model->clear();
  EXPECT_EQ(AcquireMemory(leases->get(), "GPU-1", kMemoryParts, "alone")->size(),
            size_t{kMemoryParts});
}

TEST(DeviceMemory, AnyFreePartsWillDo) {
  auto folder = MakeTempDir("leases");
  ASSERT_TRUE(folder.ok());
  auto leases = gpu::DeviceLeases::Open(folder->path());
  ASSERT_TRUE(leases.ok());
  std::vector<std::vector<gpu::DeviceLease>> held;
  for (int i = 0; i < kMemoryParts; ++i) {
    auto one = AcquireMemory(leases->get(), "GPU-1", 1, "test");
    ASSERT_TRUE(one.ok());
    held.push_back(std::move(*one));
  }
  std::atomic<bool> granted = false;
  std::jthread waits([&] {
    auto three = AcquireMemory(leases->get(), "GPU-1", 3, "test");
    granted = three.ok() && three->size() == 3;
  });
  held[1].clear();
  held[4].clear();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(granted);
  held[6].clear();
  waits.join();
  EXPECT_TRUE(granted);
}

TEST(DeviceMemory, WhoDoesNotWaitTakesAllOrNothing) {
  auto folder = MakeTempDir("leases");
  ASSERT_TRUE(folder.ok());
  auto leases = gpu::DeviceLeases::Open(folder->path());
  ASSERT_TRUE(leases.ok());
  auto most = AcquireMemory(leases->get(), "GPU-1", kMemoryParts - 1, "test", false);
  ASSERT_TRUE(most.ok());
  EXPECT_EQ(AcquireMemory(leases->get(), "GPU-1", 2, "test", false).status().code(),
            StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(AcquireMemory(leases->get(), "GPU-1", 1, "test", false).ok());
}

TEST(DeviceMemory, ThoseWhoWaitLockNobodyOut) {
  auto folder = MakeTempDir("leases");
  ASSERT_TRUE(folder.ok());
  auto leases = gpu::DeviceLeases::Open(folder->path());
  ASSERT_TRUE(leases.ok());
  std::atomic<int> parts_out = 0;
  std::atomic<int> too_many = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 10; ++i) {
          const int parts = 1 + (t + i) % kMemoryParts;
          auto mine = AcquireMemory(leases->get(), "GPU-1", parts, "test");
          ASSERT_TRUE(mine.ok());
          if ((parts_out += parts) > kMemoryParts) ++too_many;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          parts_out -= parts;
        }
      });
  }
  EXPECT_EQ(too_many, 0);
}

TEST(DeviceMemory, PartsAndSmallOnesTogetherFit) {
  // Eight in flight, none of them larger than what takes no part.
  const int64_t small = 140 * kGib / 64 - 1;
  ASSERT_EQ(PartsFor(small, 140 * kGib), 0);
  const int64_t part = 140 * kGib / 16 * kSharedSixteenths / kMemoryParts;
  EXPECT_EQ(PartsFor(part, 140 * kGib), 1);
  EXPECT_EQ(PartsFor(part + 1, 140 * kGib), 2);
  EXPECT_LE(kMemoryParts * part + 8 * small, 140 * kGib);
}

TEST(DeviceMemory, ASoleUserWaitsForTheOthersAndKeepsThemOut) {
  auto folder = MakeTempDir("leases");
  ASSERT_TRUE(folder.ok());
  auto leases = gpu::DeviceLeases::Open(folder->path());
  ASSERT_TRUE(leases.ok());
  auto first = JoinDeviceUsers(leases->get(), "GPU-1", false, "test");
  auto second = JoinDeviceUsers(leases->get(), "GPU-1", false, "test");
  ASSERT_TRUE(first.ok() && second.ok());
  std::atomic<bool> granted = false;
  std::jthread waits([&] {
    auto alone = JoinDeviceUsers(leases->get(), "GPU-1", true, "test");
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
