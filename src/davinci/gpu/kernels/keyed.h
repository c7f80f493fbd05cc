// Keyed patterns and positions: the arithmetic shared by host and device. Compiled by the host
// compiler as part of this library and, as text, by NVRTC in front of the kernels, so the two sides
// cannot drift apart. It includes nothing.
//
// Everything is a function of a 64-bit secret key and a position, so any element can be made or
// checked without the ones before it. The mixing function is the finaliser of SplitMix64; it is not
// cryptographic: it keeps a candidate that does not know the key from predicting values, which is
// all that is asked of it. (Checksums: numerics/element_rules.h.)
#pragma once

#if defined(__CUDACC__)
#define DV_KEYED_FN __host__ __device__ __forceinline__
#else
#define DV_KEYED_FN inline
#endif

namespace davinci::gpu::keyed {

using U64 = unsigned long long;
using U32 = unsigned int;

constexpr U64 kGolden = 0x9e3779b97f4a7c15ULL;

DV_KEYED_FN U64 Mix(U64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

DV_KEYED_FN U64 WordAt(U64 key, U64 index) { return Mix(key + (index + 1) * kGolden); }

DV_KEYED_FN U64 MulHigh(U64 a, U64 b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<U64>((static_cast<Wide>(a) * b) >> 64);
#endif
}

// Position of sample `j` among `count` elements; with repetition, uniform up to count / 2^64.
DV_KEYED_FN U64 SamplePosition(U64 key, U64 j, U64 count) { return MulHigh(WordAt(key, j), count); }

// The distributions of dv_stress (kernels/stress.cu). The numbers are part of the C ABI
// (worker_abi.h).
enum StressKind : int {
  kStressHeavyTailed = 0,     // normal times exp(0.75 normal)
  kStressPositive = 1,        // 0.001 to 2.001, uniform
  kStressLogUniform = 2,      // normal; three of ten 1e-4 to 1e4 in size, evenly by logarithm
  kStressMildLogUniform = 3,  // the same up to 10
};

// What is written into an output before a call: a signalling NaN with a keyed payload for floats,
// keyed bits for integers, and for bool a byte no bool has. So an element that was never written is
// seen both as a NaN and as its exact pattern.
enum PoisonKind : int {
  kPoisonFloat16 = 0,
  kPoisonBfloat16 = 1,
  kPoisonFloat32 = 2,
  kPoisonFloat64 = 3,
  kPoisonBits8 = 4,
  kPoisonBits16 = 5,
  kPoisonBits32 = 6,
  kPoisonBits64 = 7,
  kPoisonBool = 8,
};

DV_KEYED_FN int PoisonBytes(int kind) {
  switch (kind) {
    case kPoisonFloat16:
    case kPoisonBfloat16:
    case kPoisonBits16:
      return 2;
    case kPoisonFloat32:
    case kPoisonBits32:
      return 4;
    case kPoisonFloat64:
    case kPoisonBits64:
      return 8;
    default:
      return 1;
  }
}

// Quiet bit clear, the bit below it set (so the payload is never zero, which would be infinity),
// sign and rest keyed.
DV_KEYED_FN U64 PoisonFromWord(int kind, U64 word) {
  switch (kind) {
    case kPoisonFloat16:
      return (word & 0x80ff) | 0x7d00;
    case kPoisonBfloat16:
      return (word & 0x801f) | 0x7fa0;
    case kPoisonFloat32:
      return (word & 0x801fffffULL) | 0x7fa00000ULL;
    case kPoisonFloat64:
      return (word & 0x8003ffffffffffffULL) | 0x7ff4000000000000ULL;
    case kPoisonBits8:
      return word & 0xff;
    case kPoisonBits16:
      return word & 0xffff;
    case kPoisonBits32:
      return word & 0xffffffffULL;
    case kPoisonBits64:
      return word;
    default:
      return (word & 0x7f) | 0x80;
  }
}

// Pattern of element `index`: the elements of one 8-byte group share one mixed word, each taking
// its own bits of it.
DV_KEYED_FN U64 PoisonAt(int kind, U64 key, U64 index) {
  const int bytes = PoisonBytes(kind);
  const U64 per_word = 8 / bytes;
  const U64 word = WordAt(key, index / per_word);
  const int lane = static_cast<int>(index % per_word);
  return PoisonFromWord(kind, word >> (lane * bytes * 8));
}

// All elements of the 8-byte group `group` at once.
DV_KEYED_FN U64 PoisonGroup(int kind, U64 key, U64 group) {
  const U64 word = WordAt(key, group);
  const int bits = PoisonBytes(kind) * 8;
  if (bits == 64) return PoisonFromWord(kind, word);
  U64 result = 0;
  for (int shift = 0; shift < 64; shift += bits) {
    result |= PoisonFromWord(kind, word >> shift) << shift;
  }
  return result;
}

}  // namespace davinci::gpu::keyed
