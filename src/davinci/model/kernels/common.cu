// What the kernels of generation (decode.cu) and of training (train.cu) share. Elements are bf16.

typedef unsigned short Bf16;  // its bits

__device__ __forceinline__ float Widen(Bf16 bits) { return __uint_as_float((unsigned)bits << 16); }
__device__ __forceinline__ float Widen(float value) { return value; }

// Rounds to the nearest, ties to even; NaN stays NaN.
__device__ __forceinline__ Bf16 Narrow(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (Bf16)(bits >> 16 | 0x40u);
  return (Bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

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

__device__ __forceinline__ unsigned Gate(unsigned gate, unsigned up) {
  unsigned out = 0;
  for (int part = 0; part < 32; part += 16) {
    const float g = Widen((Bf16)(gate >> part & 0xffffu));
    const float u = Widen((Bf16)(up >> part & 0xffffu));
    out |= (unsigned)Narrow(g / (1.0f + expf(-g)) * u) << part;
  }
  return out;
}

// out[row][i] = silu(both[row][i]) * both[row][width + i]; eight elements a thread, width = 8 `chunks`.
extern "C" __global__ void __launch_bounds__(256)
    dv_silu_mul(const uint4* both, uint4* out, long long total, int chunks) {
  const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  if (i >= total) return;
  const long long row = i / chunks;
  const uint4 g = both[i + row * chunks];
  const uint4 u = both[i + row * chunks + chunks];
  out[i] = make_uint4(Gate(g.x, u.x), Gate(g.y, u.y), Gate(g.z, u.z), Gate(g.w, u.w));
}
