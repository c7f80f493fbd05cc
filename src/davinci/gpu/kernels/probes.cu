// Peak probes: what this device really delivers, to set floors under measured times.

extern "C" __global__ void __launch_bounds__(512)
    dv_copy(const uint4* __restrict__ in, uint4* __restrict__ out, U64 words) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < words; i += 4 * stride) {
    const uint4 a = in[i];
    const uint4 b = in[i + stride];
    const uint4 c = in[i + 2 * stride];
    const uint4 d = in[i + 3 * stride];
    out[i] = a;
    out[i + stride] = b;
    out[i + 2 * stride] = c;
    out[i + 3 * stride] = d;
  }
  for (; i < words; i += stride) out[i] = in[i];
}

// 16 independent chains per thread, 2 operations per step; the result is stored only if it takes a value it cannot take.
extern "C" __global__ void __launch_bounds__(512) dv_fma_f32(float* out, int steps, float a, float b) {
  float x[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) x[k] = (float)(threadIdx.x + k) * 1e-3f;
  for (int s = 0; s < steps; ++s) {
#pragma unroll
    for (int k = 0; k < 16; ++k) x[k] = fmaf(x[k], a, b);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += x[k];
  if (sum == 123456789.0f) out[0] = sum;
}

// Does nothing: its event-timed duration is the floor of any launch.
extern "C" __global__ void dv_empty() {}

__device__ __forceinline__ U64 Nanoseconds() {
  U64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Keeps the device until *word is `value`, `max_ns` at most: no other context gets a turn meanwhile.
extern "C" __global__ void dv_hold(const volatile unsigned* word, unsigned value, U64 max_ns) {
  const U64 begin = Nanoseconds();
  while (*word != value && Nanoseconds() - begin < max_ns) {
  }
}
