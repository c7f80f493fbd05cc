// Values of the stress distributions, for python/davinci_worker/distributions.py, which makes the same ones of torch's
// draws on the host: one pass over memory instead of a dozen. Compiled by NVRTC after buffers.cu.

namespace {

// From (0, 1) without rounding: never 0, whose logarithm is none, nor a quarter, whose cosine is none.
__device__ __forceinline__ float UniformOf(U32 bits) { return (float)(bits >> 9) * 0x1p-23f + 0x1p-24f; }

// Two independent standard normals (Box and Muller).
__device__ __forceinline__ float2 NormalsOf(U64 word) {
  const float radius = sqrtf(-2.0f * logf(UniformOf((U32)word)));
  float sine, cosine;
  sincospif(2.0f * UniformOf((U32)(word >> 32)), &sine, &cosine);
  return make_float2(radius * cosine, radius * sine);
}

__device__ __forceinline__ float StressValue(StressKind kind, U64 key, U64 i) {
  constexpr float kLog10 = 2.302585093f;
  const U64 word = WordAt(key, i);
  if (kind == kStressPositive) return 2.0f * UniformOf((U32)word) + 1e-3f;
  const float2 normals = NormalsOf(word);
  if (kind == kStressHeavyTailed) return normals.x * expf(0.75f * normals.y);
  const U64 more = Mix(word + kGolden);
  if (UniformOf((U32)more) < 0.7f) return normals.x;
  const float span = kind == kStressLogUniform ? 8.0f : 5.0f;
  return copysignf(expf(kLog10 * (span * UniformOf((U32)(more >> 32)) - 4.0f)), normals.x);
}

}  // namespace

// out: n floats.
extern "C" __global__ void __launch_bounds__(512) dv_stress(float* out, U64 n, int kind, U64 key) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  for (U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    out[i] = StressValue((StressKind)kind, key, i);
  }
}
