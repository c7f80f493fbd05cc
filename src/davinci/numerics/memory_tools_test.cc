#include "davinci/numerics/memory_tools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "davinci/numerics/worker_abi.h"

namespace davinci::numerics {
namespace {

std::vector<unsigned char> RandomBytes(size_t n, uint64_t seed = 1) {
  std::mt19937_64 rng(seed);
  std::vector<unsigned char> bytes(n);
  for (unsigned char& b : bytes) b = static_cast<unsigned char>(rng());
  return bytes;
}

TEST(KeyedChecksum, EverySingleBitMatters) {
  std::vector<unsigned char> bytes = RandomBytes(83);  // five units and a tail
  std::set<uint64_t> seen = {KeyedChecksum(bytes.data(), bytes.size(), 7)};
  for (size_t bit = 0; bit < 83 * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<unsigned char>(1 << (bit % 8));
    EXPECT_TRUE(seen.insert(KeyedChecksum(bytes.data(), bytes.size(), 7)).second) << bit;
    bytes[bit / 8] ^= static_cast<unsigned char>(1 << (bit % 8));
  }
}

TEST(KeyedChecksum, OrderLengthAndKeyMatter) {
  std::vector<unsigned char> bytes = RandomBytes(4096);
  const uint64_t original = KeyedChecksum(bytes.data(), bytes.size(), 7);
  EXPECT_EQ(KeyedChecksum(bytes.data(), bytes.size(), 7), original);
  EXPECT_NE(KeyedChecksum(bytes.data(), bytes.size(), 8), original);
  EXPECT_NE(KeyedChecksum(bytes.data(), bytes.size() - 1, 7), original);
  for (const size_t width : {8, 16, 32, 1024}) {
    std::vector<unsigned char> swapped = bytes;
    std::swap_ranges(swapped.begin(), swapped.begin() + static_cast<long>(width),
                     swapped.begin() + static_cast<long>(width));
    EXPECT_NE(KeyedChecksum(swapped.data(), swapped.size(), 7), original) << width;
  }
  const std::vector<unsigned char> zeros(4096, 0);
  EXPECT_NE(KeyedChecksum(zeros.data(), 4096, 7), KeyedChecksum(zeros.data(), 4080, 7));
}

TEST(KeyedChecksum, IsTheSameForEveryThreadCountAndAlignment) {
  const std::vector<unsigned char> bytes = RandomBytes((4 << 20) + 13);
  const uint64_t one = KeyedChecksum(bytes.data(), bytes.size(), 3, 1);
  EXPECT_EQ(KeyedChecksum(bytes.data(), bytes.size(), 3, 4), one);
  std::vector<unsigned char> shifted(bytes.size() + 1);
  std::memcpy(shifted.data() + 1, bytes.data(), bytes.size());
  EXPECT_EQ(KeyedChecksum(shifted.data() + 1, bytes.size(), 3, 1), one);
}

// Structured changes that a sum of products could miss, over many keys.
TEST(KeyedChecksum, StructuredChangesDoNotCollide) {
  int collisions = 0;
  std::mt19937_64 rng(11);
  for (int round = 0; round < 20000; ++round) {
    uint64_t words[4] = {0, 0, 0, 0};
    const uint64_t key = rng();
    const uint64_t before = KeyedChecksum(words, sizeof(words), key);
    words[rng() % 4] = round % 2 == 0 ? 0x5555555555555555ULL : uint64_t{1} << (rng() % 64);
    collisions += KeyedChecksum(words, sizeof(words), key) == before;
  }
  EXPECT_EQ(collisions, 0);
}

TEST(CopyBytes, CopiesAllAndNothingElse) {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{4096}, (size_t{5} << 20) + 3}) {
    const std::vector<unsigned char> source = RandomBytes(n);
    std::vector<unsigned char> target(n + 2, 7);
    CopyBytes(target.data() + 1, source.data(), n, 3);
    EXPECT_TRUE(std::equal(source.begin(), source.end(), target.begin() + 1));
    EXPECT_EQ(target.front(), 7);
    EXPECT_EQ(target.back(), 7);
  }
}

TEST(SameBytes, SeesOneBitAnywhere) {
  const std::vector<unsigned char> left = RandomBytes((size_t{5} << 20) + 3);
  std::vector<unsigned char> right = left;
  EXPECT_TRUE(SameBytes(left.data(), right.data(), left.size(), 3));
  for (const size_t at : {size_t{0}, size_t{1} << 20, left.size() - 1}) {
    right[at] ^= 1;
    EXPECT_FALSE(SameBytes(left.data(), right.data(), left.size(), 3)) << at;
    right[at] ^= 1;
  }
  EXPECT_TRUE(SameBytes(nullptr, nullptr, 0, 1));
}

TEST(FlushCacheLines, MakesTheNextReadSlower) {
  if (FlushInstructionName() == std::string("none")) GTEST_SKIP() << "no flush instruction here";
  // Dependent reads over 64 KiB: warm they hit L1/L2, flushed they go to memory. Best of many
  // rounds against noise.
  constexpr size_t kLines = 1024;
  std::vector<uint64_t> chain(kLines * 8);
  std::vector<size_t> order(kLines);
  for (size_t i = 0; i < kLines; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (size_t i = 0; i < kLines; ++i) chain[order[i] * 8] = order[(i + 1) % kLines] * 8;
  const auto walk = [&] {
    const auto start = std::chrono::steady_clock::now();
    uint64_t at = 0;
    for (size_t i = 0; i < kLines; ++i) at = chain[at];
    volatile uint64_t sink = at;
    (void)sink;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double warm = 1, cold = 1;
  for (int round = 0; round < 30; ++round) {
    walk();
    warm = std::min(warm, walk());
    ASSERT_TRUE(FlushCacheLines(chain.data(), chain.size() * 8));
    cold = std::min(cold, walk());
  }
  EXPECT_GT(cold, 3 * warm) << "warm " << warm << " s, flushed " << cold << " s with "
                            << FlushInstructionName();
}

TEST(WorkerAbi, SizesAndErrorsAreAnnounced) {
  EXPECT_EQ(dv_sizeof(0), sizeof(ErrorProfile));
  EXPECT_EQ(dv_sizeof(3), sizeof(CompareResult));
  EXPECT_EQ(dv_sizeof(9), 0u);
  dv_profile profile = {};
  dv_tolerance tolerance = {};
  EXPECT_EQ(dv_tolerance_build(&profile, 2, nullptr, &tolerance), -1);
  EXPECT_NE(std::string(dv_last_error()).find("profile is empty"), std::string::npos);
  EXPECT_EQ(dv_profile_is_thin(&profile), 1);
}

TEST(WorkerAbi, AWholeComparisonThroughTheCInterface) {
  std::vector<double> truth(100);
  std::vector<float> honest(100);
  for (int i = 0; i < 100; ++i) truth[i] = 1.0 / (i + 3), honest[i] = static_cast<float>(truth[i]);
  dv_profile profile = {};
  std::vector<uint8_t> dont_care(100, 0);
  ASSERT_EQ(
      dv_profile_accumulate(truth.data(), honest.data(), 2, 2, 100, &profile, dont_care.data(), 1),
      0);
  dv_tolerance tolerance;
  ASSERT_EQ(dv_tolerance_build(&profile, 2, nullptr, &tolerance), 0);
  dv_result result;
  ASSERT_EQ(dv_compare(truth.data(), honest.data(), 2, 100, &tolerance, dont_care.data(), 0.5, 1,
                       &result),
            0);
  EXPECT_EQ(result.passed, 1);
  honest[99] = -honest[99];
  ASSERT_EQ(dv_compare(truth.data(), honest.data(), 2, 100, &tolerance, dont_care.data(), 0.5, 1,
                       &result),
            0);
  EXPECT_EQ(result.passed, 0);
  EXPECT_EQ(result.first_wrong_index, 99);
  char text[64];
  EXPECT_GT(dv_describe_result(&result, 2, text, sizeof(text)), 63u);
  EXPECT_EQ(std::strlen(text), 63u);
  EXPECT_EQ(dv_compare(truth.data(), honest.data(), 77, 100, &tolerance, nullptr, 0.5, 1, &result),
            -1);
}

}  // namespace
}  // namespace davinci::numerics
