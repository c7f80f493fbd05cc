// SplitMix64: the fast generator for what must be repeatable from a recorded seed. It can be run
// backwards from one of its numbers; rng.h has what hides them.
#pragma once

#include <cstdint>

namespace davinci {

namespace internal {

template <typename Generator>
double Uniform(Generator* generator) {
  return static_cast<double>(generator->Next() >> 11) * 0x1.0p-53;
}

// The bias of the multiply-shift is below n / 2^64.
template <typename Generator>
uint64_t Below(Generator* generator, uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(generator->Next()) * n) >> 64);
}

}  // namespace internal

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
  double Uniform() { return internal::Uniform(this); }             // in [0, 1)
  uint64_t Below(uint64_t n) { return internal::Below(this, n); }  // in [0, n); n > 0

 private:
  uint64_t state_;
};

}  // namespace davinci
