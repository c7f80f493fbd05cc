#include "davinci/worker/page_map.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace davinci::worker {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

class PageMapTest : public testing::TestWithParam<int> {  // advice about huge pages
 protected:
  void SetUp() override {
    void* mapped =
        mmap(nullptr, 3 * kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    mapped_ = static_cast<char*>(mapped);
    begin_ = mapped_ + (kHugePage - reinterpret_cast<uintptr_t>(mapped_) % kHugePage);
    madvise(begin_, kHugePage, GetParam());
  }
  void TearDown() override { munmap(mapped_, 3 * kHugePage); }

  int64_t Unwritten() const {
    const std::pair<uint64_t, uint64_t> range = {reinterpret_cast<uint64_t>(begin_), kHugePage};
    return NumUnwrittenPages(getpid(), std::span(&range, 1));
  }

  const int64_t pages_ = static_cast<int64_t>(kHugePage) / sysconf(_SC_PAGESIZE);
  char* mapped_ = nullptr;
  char* begin_ = nullptr;
};

TEST_P(PageMapTest, ReadingWritesNothing) {
  if (Unwritten() == 0) GTEST_SKIP() << "this system does not tell";
  EXPECT_EQ(Unwritten(), pages_);
  int sum = 0;
  for (size_t i = 0; i < kHugePage; i += 512) sum += static_cast<volatile char*>(begin_)[i];
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(Unwritten(), pages_);
  std::memset(begin_, 1, kHugePage);
  EXPECT_EQ(Unwritten(), 0);
  madvise(begin_, kHugePage, MADV_DONTNEED);
  EXPECT_EQ(Unwritten(), pages_);
  EXPECT_EQ(*static_cast<volatile char*>(begin_), 0);  // the huge page of zeros, where asked for
  EXPECT_EQ(Unwritten(), pages_);
}

INSTANTIATE_TEST_SUITE_P(SmallAndHuge, PageMapTest,
                         testing::Values(MADV_NOHUGEPAGE, MADV_HUGEPAGE));

}  // namespace
}  // namespace davinci::worker
