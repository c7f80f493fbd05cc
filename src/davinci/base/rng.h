// Random numbers. `SecretSeed` is unpredictable (kernel entropy); `SecretStream` is what the judge
// hides from candidates: some of its numbers do not reveal the others. Everything else that must be
// repeatable from a recorded seed uses `SplitMix64` (split_mix.h).
#pragma once

#include <array>
#include <cstdint>

#include "davinci/base/split_mix.h"

namespace davinci {

// 63 random bits from getrandom(2); never negative when read as int64. Aborts if the kernel has no
// entropy source.
uint64_t SecretSeed();

// SHA-256 of the seed and a counter, four numbers a block: the same numbers for the same seed.
class SecretStream {
 public:
  explicit SecretStream(uint64_t seed) : seed_(seed) {}
  uint64_t Next();
  double Uniform() { return internal::Uniform(this); }             // in [0, 1)
  uint64_t Below(uint64_t n) { return internal::Below(this, n); }  // in [0, n); n > 0

 private:
  uint64_t seed_;
  uint64_t num_drawn_ = 0;
  std::array<uint64_t, 4> block_{};
};

}  // namespace davinci
