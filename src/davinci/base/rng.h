// Random numbers. `SecretSeed` is unpredictable (kernel entropy); `SecretStream` is what the judge
// hides from candidates: some of its numbers do not reveal the others;
// `SplitMix64` is the fast generator for everything else that must be repeatable from a recorded
// seed: it can be run backwards from one of its numbers.
#pragma once

#include <array>
#include <cstdint>

namespace davinci {

// 63 random bits from getrandom(2); never negative when read as int64. Aborts if the kernel has no
// entropy source.
uint64_t SecretSeed();

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
