// Random numbers. `SecretSeed` is unpredictable (kernel entropy) and is what the judge hides from
// candidates; `SplitMix64` is the deterministic generator for everything that must be repeatable
// from a recorded seed.
#pragma once

#include <cstdint>

namespace davinci {

// 63 random bits from getrandom(2); never negative when read as int64. Aborts if the kernel has no
// entropy source.
uint64_t SecretSeed();

// Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators".
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Uniform in [0, n); n > 0. The bias of the multiply-shift is below n / 2^64.
  uint64_t Below(uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(Next()) * n) >> 64);
  }

 private:
  uint64_t state_;
};

}  // namespace davinci
