// Vectors of 16 floats for the CPU kernels, in GCC's vector extension: functions that are inlined
// into callers of any instruction set.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#define DV_INLINE __attribute__((always_inline)) inline

// 64-byte vectors are an ABI matter only between files.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace davinci::model {

constexpr int64_t kLanes = 16;
typedef float F16 __attribute__((vector_size(64), aligned(4)));
typedef uint16_t H16 __attribute__((vector_size(32), aligned(2)));
typedef uint32_t U16 __attribute__((vector_size(64), aligned(4)));

template <typename T>
struct Lanes;
template <>
struct Lanes<float> {
  static DV_INLINE void Load(const float* from, F16* to) { std::memcpy(to, from, sizeof *to); }
  static DV_INLINE float One(float value) { return value; }
  static DV_INLINE float To(float value) { return value; }
};
template <>
struct Lanes<uint16_t> {  // bfloat16: the upper half of a float
  static DV_INLINE void Load(const uint16_t* from, F16* to) {
    H16 half;
    std::memcpy(&half, from, sizeof half);
    const U16 bits = __builtin_convertvector(half, U16) << 16;
    std::memcpy(to, &bits, sizeof *to);
  }
  static DV_INLINE float One(uint16_t value) {
    const uint32_t bits = static_cast<uint32_t>(value) << 16;
    float out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
  }
  static DV_INLINE uint16_t To(float value) {  // to nearest, ties to even
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>(bits >> 16 | 0x40);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

// To bf16: to nearest, ties to even.
DV_INLINE void StoreRounded(F16 value, uint16_t* to) {
  U16 bits;
  std::memcpy(&bits, &value, sizeof bits);
  const U16 high = bits >> 16;
  const U16 rounded = (bits + 0x7fffU + (high & 1U)) >> 16;
  const H16 half =
      __builtin_convertvector((bits & 0x7fffffffU) > 0x7f800000U ? (high | 0x40U) : rounded, H16);
  std::memcpy(to, &half, sizeof half);
}

// A fixed tree: eight pairs, four, two, one.
DV_INLINE float Sum(F16 v) {
  v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  return v[0] + v[1];
}

// e^x within 2 ulp for |x| <= 87; beyond, as for the nearer bound; NaN stays NaN.
DV_INLINE F16 Exp(F16 x) {
  typedef int32_t I16 __attribute__((vector_size(64)));
  const F16 low = F16{} - 87.0F;
  const F16 high = F16{} + 88.0F;
  x = x < low ? low : x;
  x = x > high ? high : x;
  constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const F16 n = (x * 1.44269504F + kMagic) - kMagic;
  F16 r = x - n * 0.693145752F;
  r -= n * 1.42860677e-6F;
  F16 p = r * 1.3981999e-3F + 8.3334519e-3F;
  p = p * r + 4.1665796e-2F;
  p = p * r + 1.6666666e-1F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const I16 scale = __builtin_convertvector(n, I16) << 23;
  I16 bits;
  std::memcpy(&bits, &p, sizeof bits);
  bits += scale;
  std::memcpy(&p, &bits, sizeof p);
  return p;
}

// In place: e^(x - top); returns the sum.
DV_INLINE float ExpSum(float* x, int64_t size, float top) {
  F16 acc = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    F16 v;
    std::memcpy(&v, x + i, sizeof v);
    v = Exp(v - top);
    acc += v;
    std::memcpy(x + i, &v, sizeof v);
  }
  float sum = Sum(acc);
  for (; i < size; ++i) {
    x[i] = std::exp(x[i] - top);
    sum += x[i];
  }
  return sum;
}

DV_INLINE float Largest(const float* x, int64_t size) {
  float top = x[0];
  int64_t i = 0;
  if (size >= kLanes) {
    F16 best;
    std::memcpy(&best, x, sizeof best);
    for (i = kLanes; i + kLanes <= size; i += kLanes) {
      F16 v;
      std::memcpy(&v, x + i, sizeof v);
      best = v > best ? v : best;
    }
    for (int lane = 0; lane < kLanes; ++lane) top = best[lane] > top ? best[lane] : top;
  }
  for (; i < size; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

}  // namespace davinci::model

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
