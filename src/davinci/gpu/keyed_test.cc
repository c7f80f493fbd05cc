#include "davinci/gpu/kernels/keyed.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>

namespace davinci::gpu::keyed {
namespace {

constexpr U64 kKey = 0x1234567890abcdefULL;

TEST(Poison, Float32IsASignallingNanForEveryIndex) {
  std::set<U64> seen;
  for (U64 i = 0; i < 10000; ++i) {
    const U64 bits = PoisonAt(kPoisonFloat32, kKey, i);
    EXPECT_TRUE(std::isnan(std::bit_cast<float>(static_cast<uint32_t>(bits))));
    EXPECT_EQ(bits & 0x00400000U, 0U) << "quiet bit";
    seen.insert(bits);
  }
  EXPECT_GT(seen.size(), 9900U) << "patterns must not repeat, or stale copies go unnoticed";
}

TEST(Poison, EveryFloatKindIsNan) {
  for (U64 i = 0; i < 4096; ++i) {
    const U64 half = PoisonAt(kPoisonFloat16, kKey, i);
    EXPECT_EQ(half & 0x7c00, 0x7c00U);
    EXPECT_NE(half & 0x03ff, 0U);
    const U64 bfloat = PoisonAt(kPoisonBfloat16, kKey, i);
    EXPECT_EQ(bfloat & 0x7f80, 0x7f80U);
    EXPECT_NE(bfloat & 0x007f, 0U);
    EXPECT_TRUE(std::isnan(std::bit_cast<double>(PoisonAt(kPoisonFloat64, kKey, i))));
    EXPECT_GT(PoisonAt(kPoisonBool, kKey, i), 1U);
  }
}

TEST(Poison, GroupHoldsTheSamePatternsAsItsElements) {
  for (int kind = kPoisonFloat16; kind <= kPoisonBool; ++kind) {
    const int bytes = PoisonBytes(kind);
    const int lanes = 8 / bytes;
    for (U64 group = 0; group < 64; ++group) {
      const U64 word = PoisonGroup(kind, kKey, group);
      for (int lane = 0; lane < lanes; ++lane) {
        const U64 mask = bytes == 8 ? ~0ULL : (1ULL << (8 * bytes)) - 1;
        EXPECT_EQ((word >> (8 * bytes * lane)) & mask,
                  PoisonAt(kind, kKey, group * lanes + static_cast<U64>(lane)));
      }
    }
  }
}

TEST(Poison, AnotherKeyIsAnotherPattern) {
  int equal = 0;
  for (U64 i = 0; i < 1000; ++i) {
    equal += PoisonAt(kPoisonFloat32, kKey, i) == PoisonAt(kPoisonFloat32, kKey + 1, i) ? 1 : 0;
  }
  EXPECT_LT(equal, 5);
}

TEST(SamplePosition, StaysInsideAndCoversTheBuffer) {
  constexpr U64 kCount = 1000;
  std::set<U64> seen;
  for (U64 j = 0; j < 20000; ++j) {
    const U64 position = SamplePosition(kKey, j, kCount);
    ASSERT_LT(position, kCount);
    seen.insert(position);
  }
  EXPECT_EQ(seen.size(), kCount);
}

}  // namespace
}  // namespace davinci::gpu::keyed
