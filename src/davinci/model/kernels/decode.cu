// What a pass of the embedded model does between its matrix products, each in one launch: rotary heads, storing of keys
// and values, the gated activation, drawing of a token. ATen needs five, two, two and twelve launches for them, and a
// decode step of a small model is made of launches.
//
// Compiled by NVRTC without headers (decode_kernels.cc, where parameters and launches are documented), and by the
// host's compiler in decode_kernels_test.cc, which runs every thread of a block; behind common.cu. Sums are fp32. Every row
// is computed as if it were alone, in an order that depends on its size only.

// The tokens that go into a step: of the row of the step before where there is one, else what the host brought.
extern "C" __global__ void __launch_bounds__(256)
    dv_feed(const long long* tokens, const long long* sources, const long long* drawn, long long* out, int rows) {
  const int row = blockIdx.x * 256 + threadIdx.x;
  if (row < rows) out[row] = sources[row] >= 0 ? drawn[sources[row]] : tokens[row];
}

// Normalises (weights given: RMS norm of each head) and rotates q and k heads in place. A warp does one head.
extern "C" __global__ void __launch_bounds__(128)
    dv_heads(Bf16* qkv, const Bf16* q_norm, const Bf16* k_norm, float eps, const float* cos_sin,
             const long long* positions, int heads, int kv_heads, int dim) {
  const int head = blockIdx.y * 4 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (head >= heads + kv_heads) return;
  const long long row = blockIdx.x;
  Bf16* const x = qkv + (row * (heads + 2 * kv_heads) + head) * dim;
  const int half = dim / 2;
  const float* const turn = cos_sin + positions[row] * dim;
  const Bf16* const weight = head < heads ? q_norm : k_norm;
  float factor = 1.0f;
  if (weight != nullptr) {
    float squares = 0.0f;
    for (int i = lane; i < dim; i += 32) squares += Widen(x[i]) * Widen(x[i]);
    factor = rsqrtf(WarpSum(squares) / (float)dim + eps);
  }
  for (int i = lane; i < half; i += 32) {
    float low = Widen(x[i]) * factor;
    float high = Widen(x[half + i]) * factor;
    if (weight != nullptr) {
      low *= Widen(weight[i]);
      high *= Widen(weight[half + i]);
    }
    const float cosine = turn[i], sine = turn[half + i];
    x[i] = Narrow(low * cosine - high * sine);
    x[half + i] = Narrow(high * cosine + low * sine);
  }
}

__device__ __forceinline__ float Squares(unsigned pair) {
  const float low = Widen((Bf16)(pair & 0xffffu)), high = Widen((Bf16)(pair >> 16));
  return low * low + high * high;
}
__device__ __forceinline__ float SquaresOfEight(const uint4& v) {
  return Squares(v.x) + Squares(v.y) + Squares(v.z) + Squares(v.w);
}
__device__ __forceinline__ unsigned Scaled(unsigned pair, unsigned weight, float factor) {
  const float low = Widen((Bf16)(pair & 0xffffu)) * factor * Widen((Bf16)(weight & 0xffffu));
  const float high = Widen((Bf16)(pair >> 16)) * factor * Widen((Bf16)(weight >> 16));
  return (unsigned)Narrow(low) | (unsigned)Narrow(high) << 16;
}

// The factor of the RMS norm of a row of 8 `chunks` values, by a warp.
__device__ __forceinline__ float NormFactor(const uint4* x, int chunks, float eps) {
  float squares = 0.0f;
#pragma unroll 4
  for (int c = threadIdx.x % 32; c < chunks; c += 32) squares += SquaresOfEight(LoadFresh(x + c));
  return rsqrtf(WarpSum(squares) / (float)(8 * chunks) + eps);
}

// RMS norm of rows of 8 `chunks` values. A warp does one row.
extern "C" __global__ void __launch_bounds__(64)
    dv_norm(const uint4* x, const uint4* weight, uint4* out, int rows, int chunks, float eps) {
  const int row = blockIdx.x * 2 + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const uint4* const in = x + (long long)row * chunks;
  const float factor = NormFactor(in, chunks, eps);
#pragma unroll 4
  for (int c = lane; c < chunks; c += 32) {
    const uint4 v = in[c], w = weight[c];
    out[(long long)row * chunks + c] = make_uint4(Scaled(v.x, w.x, factor), Scaled(v.y, w.y, factor),
                                                  Scaled(v.z, w.z, factor), Scaled(v.w, w.w, factor));
  }
}

// Copies each row's keys and values, both `chunks` times 16 bytes, to their positions of the cache. A row of the cache
// has `chunks` times 16 bytes, too.
extern "C" __global__ void __launch_bounds__(128)
    dv_keep(const uint4* keys, const uint4* values, long long stride, const long long* at, uint4* cached_keys,
            uint4* cached_values, int chunks) {
  const long long row = blockIdx.x;
  for (int i = threadIdx.x; i < 2 * chunks; i += 128) {
    const bool is_key = i < chunks;
    const int c = is_key ? i : i - chunks;
    (is_key ? cached_keys : cached_values)[at[row] * chunks + c] = (is_key ? keys : values)[row * stride + c];
  }
}

// Which of 32 warps' sums holds `target`: the first at which the running sum exceeds it; behind the last (rounding), the
// last with any weight. `*before`: the sum ahead of it.
__device__ __forceinline__ int Locate(const float* sums, int warps, float target, float* before) {
  float sum = 0.0f;
  int last = 0;
  float ahead_of_last = 0.0f;
  for (int w = 0; w < warps; ++w) {
    if (sums[w] > 0.0f) {
      last = w;
      ahead_of_last = sum;
    }
    sum += sums[w];
    if (sum > target) break;
  }
  *before = ahead_of_last;
  return last;
}

// Eight logits from the `i`-th; NaN behind the last. `whole`: rows are made of eights, so that one load brings them.
__device__ __forceinline__ void LoadLogits(const Bf16* logits, int i, int vocab, bool whole, float* values) {
  if (whole) {
    WidenEight(*(const uint4*)(logits + i), values);
    return;
  }
#pragma unroll
  for (int e = 0; e < 8; ++e) values[e] = Widen(i + e < vocab ? logits[i + e] : (Bf16)0x7fc0);
}
__device__ __forceinline__ void LoadLogits(const float* logits, int i, int vocab, bool whole, float* values) {
#pragma unroll
  for (int e = 0; e < 8; ++e) values[e] = whole || i + e < vocab ? logits[i + e] : __uint_as_float(0x7fc00000u);
}

// Draws one token of a row of logits: the first, in order of ids, at which the cumulated probability exceeds the noise;
// where `greedy` is set, the first of the likeliest. One block a row, of two warps or more.
template <typename T>
__device__ __forceinline__ void Draw(const T* all, int vocab, const float* inverse_temperature, const float* noise,
                                     const bool* greedy, long long* tokens, float* logprobs) {
  __shared__ float sums[32];
  __shared__ int ids[32];
  const int row = blockIdx.x;
  const T* const logits = all + (long long)row * vocab;
  const float inverse = inverse_temperature[row];
  const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  const bool whole = vocab % 8 == 0;
  float eight[8];

  float best = 0.0f;
  int id = -1;
#pragma unroll 1
  for (int i = 8 * threadIdx.x; i < vocab; i += 8 * blockDim.x) {
    LoadLogits(logits, i, vocab, whole, eight);
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const float value = eight[e] * inverse;
      if (value == value && (id < 0 || value > best)) {
        best = value;
        id = i + e;
      }
    }
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, best, step);
    const int other_id = __shfl_xor_sync(0xffffffffu, id, step);
    if (other_id >= 0 && (id < 0 || other > best || (other == best && other_id < id))) {
      best = other;
      id = other_id;
    }
  }
  if (lane == 0) {
    sums[warp] = best;
    ids[warp] = id;
  }
  __syncthreads();
  best = sums[0];
  id = ids[0];
  for (int w = 1; w < warps; ++w)
    if (ids[w] >= 0 && (id < 0 || sums[w] > best || (sums[w] == best && ids[w] < id))) {
      best = sums[w];
      id = ids[w];
    }
  if (id < 0) id = 0;  // nothing but NaN

  // Ever smaller ranges [begin, end), begin a multiple of 8: each warp sums a part, all find the part that holds the target.
  int begin = 0, end = vocab;
  float total = 0.0f, target = 0.0f;
  for (bool first = true; first || end - begin > 32; first = false) {
    const int part = ((end - begin + warps - 1) / warps + 7) / 8 * 8;
    const int from = begin + warp * part;
    const int to = from + part < end ? from + part : end;
    float sum = 0.0f;
#pragma unroll 1
    for (int i = from + 8 * lane; i < to; i += 256) {
      LoadLogits(logits, i, vocab, whole, eight);
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const float weight = expf(eight[e] * inverse - best);
        if (weight > 0.0f) sum += weight;  // not NaN
      }
    }
    sum = WarpSum(sum);
    __syncthreads();  // the sums have been read
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (first) {
      for (int w = 0; w < warps; ++w) total += sums[w];
      target = noise[row] * total;
      if (greedy[row]) break;
    }
    float before = 0.0f;
    const int chosen = Locate(sums, warps, target, &before);
    target -= before;
    begin += chosen * part;
    end = begin + part < end ? begin + part : end;
  }
  if (threadIdx.x != 0) return;
  int token = id;
  if (!greedy[row]) {
    float sum = 0.0f;
    for (int i = begin; i < end; ++i) {
      const float weight = expf(Widen(logits[i]) * inverse - best);
      if (!(weight > 0.0f)) continue;
      token = i;
      sum += weight;
      if (sum > target) break;
    }
  }
  tokens[row] = token;
  logprobs[row] = Widen(logits[token]) * inverse - best - logf(total);
}

extern "C" __global__ void __launch_bounds__(1024)
    dv_draw_bf16(const Bf16* logits, int vocab, const float* inverse_temperature, const float* noise,
                 const bool* greedy, long long* tokens, float* logprobs) {
  Draw(logits, vocab, inverse_temperature, noise, greedy, tokens, logprobs);
}

extern "C" __global__ void __launch_bounds__(1024)
    dv_draw_fp32(const float* logits, int vocab, const float* inverse_temperature, const float* noise,
                 const bool* greedy, long long* tokens, float* logprobs) {
  Draw(logits, vocab, inverse_temperature, noise, greedy, tokens, logprobs);
}
