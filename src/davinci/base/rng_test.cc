#include "davinci/base/rng.h"

#include <gtest/gtest.h>

#include <set>

namespace davinci {
namespace {

TEST(SecretStream, IsTheSameForTheSameSeedOnly) {
  SecretStream a(7);
  SecretStream b(7);
  SecretStream c(8);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    EXPECT_NE(value, c.Next());
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

// What SplitMix64 gives away: its state from one number, and with it all the others.
TEST(SecretStream, CannotBeRunOnFromWhatItGave) {
  const auto state_behind = [](uint64_t z) {
    z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3ull;
    z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089ull;
    return z ^ (z >> 30) ^ (z >> 60);
  };
  SplitMix64 plain(42);
  SplitMix64 foretold(state_behind(plain.Next()));
  SecretStream secret(42);
  SplitMix64 guessed(state_behind(secret.Next()));
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(plain.Next(), foretold.Next());
    EXPECT_NE(secret.Next(), guessed.Next());
  }
}

TEST(SecretStream, StaysWithinItsBoundsEvenly) {
  SecretStream stream(1);
  int below[10] = {};
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    ++below[stream.Below(10)];
    const double share = stream.Uniform();
    ASSERT_GE(share, 0);
    ASSERT_LT(share, 1);
    sum += share;
  }
  for (const int count : below) EXPECT_NEAR(count, 1000, 150);
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

}  // namespace
}  // namespace davinci
