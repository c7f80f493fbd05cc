// Attention of a decode step. Behind common.cu and common_instructions.cu; compiled and tested as decode.cu is.

// Attention of one query position over a cache. Compiled for one shape: DV_GROUP query heads share a kv head, a head has
// 8 DV_LANES values. A block, of up to kAttendWarps warps, does one kv head of one row: each DV_LANES lanes read one
// position, 16 bytes a lane, keep their own running maximum and sums, and are merged at the end. What a step costs is the
// reading of the cache, so the loads of kAttendUnroll positions, keys and values, are under way at once.
#ifdef DV_GROUP
constexpr int kAttendWarps = 8;
constexpr int kAttendUnroll = 4;
constexpr float kAttendLow = -1e30f;  // below every score

// Eight values of a head, `place` of DV_LANES, as dv_heads makes them: normalised (weight given) and rotated.
__device__ __forceinline__ void TurnEight(const uint4& words, const Bf16* weight, float eps, const float* turn, int place,
                                          float* out) {
  constexpr int kDim = 8 * DV_LANES;
  float x[8], other[8];
  WidenEight(words, x);
  if (weight != nullptr) {
    float squares = 0.0f, scale[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) squares += x[i] * x[i];
#pragma unroll
    for (int step = DV_LANES / 2; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
    const float factor = rsqrtf(squares / (float)kDim + eps);
    WidenEight(*(const uint4*)(weight + 8 * place), scale);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = x[i] * factor * scale[i];
  }
  const bool high = place >= DV_LANES / 2;
  const float* const at = turn + 8 * (high ? place - DV_LANES / 2 : place);
#pragma unroll
  for (int i = 0; i < 8; ++i) other[i] = __shfl_xor_sync(0xffffffffu, x[i], DV_LANES / 2);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float cosine = at[i], sine = at[kDim / 2 + i];
    out[i] = Widen(Narrow(x[i] * cosine + (high ? other[i] : -other[i]) * sine));
  }
}

__device__ __forceinline__ unsigned PackPair(float low, float high) {
  return (unsigned)Narrow(low) | (unsigned)Narrow(high) << 16;
}

// kWhole: q lies in rows of q, k and v heads as the product made them, `q_stride` apart. They are normalised and rotated
// here, the new key and value are stored in the cache as the last of the positions, and what lies in it before is loaded
// while the kernel ahead runs. Otherwise q is ready and the cache is whole.
template <bool kWhole>
__device__ __forceinline__ void Attend(const Bf16* q, long long q_stride, Bf16* keys, Bf16* values, const int* starts,
                                       const int* lengths, float scale, int kv_heads, Bf16* out, const Bf16* q_norm,
                                       const Bf16* k_norm, float eps, const float* cos_sin, const long long* positions) {
  constexpr int kDim = 8 * DV_LANES;
  constexpr int kPerWarp = 32 / DV_LANES;                  // positions a warp reads at once
  const int warps = blockDim.x / 32;
  const int at_once = warps * kPerWarp;  // and a block
  __shared__ float merged[kAttendWarps][DV_GROUP][kDim];
  __shared__ float tops[kAttendWarps][DV_GROUP], totals[kAttendWarps][DV_GROUP];
  const int kv_head = blockIdx.x;
  const long long row = blockIdx.y;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int place = lane % DV_LANES, mine = warp * kPerWarp + lane / DV_LANES;
  const int length = lengths[row] - (kWhole ? 1 : 0);  // positions that are read
  const long long stride = (long long)kv_heads * kDim;
  Bf16* const key = keys + (starts[row] * stride + (long long)kv_head * kDim + place * 8);
  Bf16* const value = values + (starts[row] * stride + (long long)kv_head * kDim + place * 8);
  if (kWhole) ReleaseNext();

  uint4 k[kAttendUnroll], v[kAttendUnroll];
  const auto load = [&](int base) {
#pragma unroll
    for (int u = 0; u < kAttendUnroll; ++u) {
      const int position = base + u * at_once + mine;
      const long long at = (position < length ? position : 0) * stride;
      k[u] = *(const uint4*)(key + at);
      v[u] = *(const uint4*)(value + at);
    }
  };
  if (kWhole) {
    if (length > 0) load(0);
#pragma unroll
    for (int u = 0; u < kAttendUnroll; ++u) {
      const int position = (kAttendUnroll + u) * at_once + mine;
      if (place % 8 != 0 || position >= length) continue;
      Prefetch(key + position * stride);
      Prefetch(value + position * stride);
    }
    AwaitPrevious();
  }

  float query[DV_GROUP][8], sum[DV_GROUP][8], top[DV_GROUP], total[DV_GROUP];
  const Bf16* const head = q + row * q_stride + (long long)kv_head * DV_GROUP * kDim + place * 8;
  if (kWhole) {
    const float* const turn = cos_sin + positions[row] * kDim;
    const Bf16* const new_key = q + row * q_stride + ((long long)kv_heads * DV_GROUP + kv_head) * kDim + place * 8;
    const uint4 value_words = LoadFresh((const uint4*)(new_key + stride));
    float turned[8], wide[8];
    TurnEight(LoadFresh((const uint4*)new_key), k_norm, eps, turn, place, turned);
    WidenEight(value_words, wide);
    if (mine == 0) {
      *(uint4*)(key + length * stride) = make_uint4(PackPair(turned[0], turned[1]), PackPair(turned[2], turned[3]),
                                                    PackPair(turned[4], turned[5]), PackPair(turned[6], turned[7]));
      *(uint4*)(value + length * stride) = value_words;
    }
#pragma unroll
    for (int g = 0; g < DV_GROUP; ++g) {
      TurnEight(LoadFresh((const uint4*)(head + g * kDim)), q_norm, eps, turn, place, query[g]);
      float dot = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        query[g][i] *= scale;
        dot = fmaf(query[g][i], turned[i], dot);
      }
#pragma unroll
      for (int step = DV_LANES / 2; step > 0; step /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, step);
      // The new position is the first that these lanes see.
      top[g] = mine == 0 ? dot : kAttendLow;
      total[g] = mine == 0 ? 1.0f : 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[g][i] = mine == 0 ? wide[i] : 0.0f;
    }
  } else {
#pragma unroll
    for (int g = 0; g < DV_GROUP; ++g) {
      WidenEight(*(const uint4*)(head + g * kDim), query[g]);
      top[g] = kAttendLow;
      total[g] = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        query[g][i] *= scale;  // with log2(e): weights are powers of two
        sum[g][i] = 0.0f;
      }
    }
  }
  for (int base = 0; base < length; base += at_once * kAttendUnroll) {
    if (!kWhole || base > 0) load(base);
    bool inside[kAttendUnroll];
#pragma unroll
    for (int u = 0; u < kAttendUnroll; ++u) inside[u] = base + u * at_once + mine < length;
    float score[kAttendUnroll][DV_GROUP];
#pragma unroll
    for (int u = 0; u < kAttendUnroll; ++u) {
      float wide[8];
      WidenEight(k[u], wide);
#pragma unroll
      for (int g = 0; g < DV_GROUP; ++g) {
        float dot = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; ++i) dot = fmaf(query[g][i], wide[i], dot);
#pragma unroll
        for (int step = DV_LANES / 2; step > 0; step /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, step);
        score[u][g] = inside[u] ? dot : kAttendLow;
      }
    }
#pragma unroll
    for (int g = 0; g < DV_GROUP; ++g) {
      float best = top[g];
#pragma unroll
      for (int u = 0; u < kAttendUnroll; ++u) best = fmaxf(best, score[u][g]);
      const float shrink = exp2f(top[g] - best);
      top[g] = best;
      total[g] *= shrink;
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[g][i] *= shrink;
    }
#pragma unroll
    for (int u = 0; u < kAttendUnroll; ++u) {
      float wide[8];
      WidenEight(v[u], wide);
#pragma unroll
      for (int g = 0; g < DV_GROUP; ++g) {
        const float weight = inside[u] ? exp2f(score[u][g] - top[g]) : 0.0f;
        total[g] += weight;
#pragma unroll
        for (int i = 0; i < 8; ++i) sum[g][i] = fmaf(weight, wide[i], sum[g][i]);
      }
    }
  }
#pragma unroll
  for (int g = 0; g < DV_GROUP; ++g) {
    float best = top[g];
#pragma unroll
    for (int step = DV_LANES; step < 32; step *= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, step));
    const float shrink = exp2f(top[g] - best);
    total[g] *= shrink;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum[g][i] *= shrink;
#pragma unroll
    for (int step = DV_LANES; step < 32; step *= 2) {
      total[g] += __shfl_xor_sync(0xffffffffu, total[g], step);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[g][i] += __shfl_xor_sync(0xffffffffu, sum[g][i], step);
    }
    if (lane < DV_LANES) {
#pragma unroll
      for (int i = 0; i < 8; ++i) merged[warp][g][place * 8 + i] = sum[g][i];
      tops[warp][g] = best;
      totals[warp][g] = total[g];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < DV_GROUP * kDim; i += blockDim.x) {
    const int g = i / kDim, d = i % kDim;
    float best = tops[0][g];
    for (int w = 1; w < warps; ++w) best = fmaxf(best, tops[w][g]);
    float numerator = 0.0f, denominator = 0.0f;
    for (int w = 0; w < warps; ++w) {
      const float shrink = exp2f(tops[w][g] - best);
      numerator += merged[w][g][d] * shrink;
      denominator += totals[w][g] * shrink;
    }
    out[((row * kv_heads + kv_head) * DV_GROUP + g) * kDim + d] = Narrow(numerator / denominator);
  }
}

extern "C" __global__ void __launch_bounds__(32 * kAttendWarps)
    dv_attend(const Bf16* q, long long q_stride, Bf16* keys, Bf16* values, const int* starts, const int* lengths,
              float scale, int kv_heads, Bf16* out) {
  Attend<false>(q, q_stride, keys, values, starts, lengths, scale, kv_heads, out, nullptr, nullptr, 0.0f, nullptr,
                nullptr);
}

extern "C" __global__ void __launch_bounds__(32 * kAttendWarps)
    dv_attend_whole(const Bf16* q, long long q_stride, Bf16* keys, Bf16* values, const int* starts, const int* lengths,
                    float scale, int kv_heads, Bf16* out, const Bf16* q_norm, const Bf16* k_norm, float eps,
                    const float* cos_sin, const long long* positions) {
  Attend<true>(q, q_stride, keys, values, starts, lengths, scale, kv_heads, out, q_norm, k_norm, eps, cos_sin,
               positions);
}
#endif  // DV_GROUP
