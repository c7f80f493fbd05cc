// What the kernels of generation (decode.cu) and of training (train.cu) share. Elements are bf16.

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a tile fit 32 bits, which take fewer registers
typedef unsigned short Bf16;  // its bits

__device__ __forceinline__ float Widen(Bf16 bits) { return __uint_as_float((unsigned)bits << 16); }
__device__ __forceinline__ float Widen(float value) { return value; }

// Rounds to the nearest, ties to even; NaN stays NaN.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ __forceinline__ Bf16 Narrow(float value) {
  Bf16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
// Two values as one word, the first in its lower half.
__device__ __forceinline__ unsigned NarrowPair(float low, float high) {
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
  return bits;
}
#else
__device__ __forceinline__ Bf16 Narrow(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (Bf16)(bits >> 16 | 0x40u);
  return (Bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
__device__ __forceinline__ unsigned NarrowPair(float low, float high) {
  return (unsigned)Narrow(low) | (unsigned)Narrow(high) << 16;
}
#endif

__device__ __forceinline__ float WarpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

__device__ __forceinline__ void WidenEight(const uint4& words, float* values) {
  const unsigned parts[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = __uint_as_float(parts[i] << 16);
    values[2 * i + 1] = __uint_as_float(parts[i] & 0xffff0000u);
  }
}

__device__ __forceinline__ uint4 NarrowEight(const float* values) {
  return make_uint4(NarrowPair(values[0], values[1]), NarrowPair(values[2], values[3]), NarrowPair(values[4], values[5]),
                    NarrowPair(values[6], values[7]));
}

__device__ __forceinline__ float Gate(float gate, float up) { return gate / (1.0f + expf(-gate)) * up; }

// out[row][i] = silu(both[row][i]) * both[row][width + i]; eight elements a thread, width = 8 `chunks`, `total` below 2^32.
extern "C" __global__ void __launch_bounds__(256)
    dv_silu_mul(const uint4* both, uint4* out, long long total, int chunks) {
  const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  if (i >= total) return;
  const long long gate_at = i + (long long)((unsigned)i / (unsigned)chunks) * chunks;
  float gate[8], up[8];
  WidenEight(both[gate_at], gate);
  WidenEight(both[gate_at + chunks], up);
#pragma unroll
  for (int e = 0; e < 8; ++e) gate[e] = Gate(gate[e], up[e]);
  out[i] = NarrowEight(gate);
}
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
