// Attention of a decode step. Behind common.cu and common_instructions.cu; compiled and tested as decode.cu is.

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a tile fit 32 bits, which take fewer registers
// Attention of one query position over a cache. Compiled for one shape: DV_GROUP query heads (8 at most) share a kv head, a
// head has 8 DV_LANES values. A block, of up to kAttendWarps warps, does one kv head of one row. What a step costs is the
// reading of the cache: each warp has the keys and values of kAttendStep positions under way, 8 KiB, and asks for the next
// as soon as their registers are free. The tensor cores do the rest, so that it takes few instructions:
//   scores [positions, queries] = keys [positions, head] queries [head, queries]
//   sums [head, queries] += values [head, positions] weights [positions, queries]
// with mma's 8 columns for the queries. Lane 4 g + t of a warp holds, of 16 positions, pieces t, t + 4, … (of 16 bytes) of
// keys g and g + 8, and pieces g, g + 8, … of values 2 t, 2 t + 1, 2 t + 8 and 2 t + 9: operands as they lie in memory. The
// order of a head's values differs from mma's, but alike on both sides. Weights are rounded to bf16, and their total is of
// the rounded ones. Each warp keeps its own maximum and sums; they are merged at the end.
#ifdef DV_GROUP
constexpr int kAttendWarps = 8;
constexpr int kAttendDim = 8 * DV_LANES;
constexpr int kAttendTiles = 128 / kAttendDim;   // of 16 positions
constexpr int kAttendStep = 16 * kAttendTiles;   // positions of a warp and round
constexpr int kAttendPieces = kAttendDim / 32;   // of a key and lane
constexpr int kAttendHalves = kAttendDim / 64;   // pieces of a value and lane
constexpr float kAttendLow = -1e30f;             // below every score
// Warps that a multiprocessor has registers for; no block has so many.
constexpr int kAttendResident = kAttendDim == 64 ? 16 : 12;

__device__ __forceinline__ void ReadEight(const float* from, float* values) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint4 words = ((const uint4*)from)[i];
    values[4 * i] = __uint_as_float(words.x);
    values[4 * i + 1] = __uint_as_float(words.y);
    values[4 * i + 2] = __uint_as_float(words.z);
    values[4 * i + 3] = __uint_as_float(words.w);
  }
}

// A head's pieces of a lane, times `factor`, as dv_heads makes them: normalised (weight given) and rotated. All lanes of a
// warp take part.
__device__ __forceinline__ void TurnHead(uint4* pieces, float factor, const Bf16* weight, float eps, const float* turn,
                                         int t) {
  constexpr int kPairs = kAttendPieces / 2;
  if (weight != nullptr) {
    float squares = 0.0f;
#pragma unroll
    for (int c = 0; c < kAttendPieces; ++c) squares += SquaresOfEight(pieces[c]);
    squares += __shfl_xor_sync(0xffffffffu, squares, 1);
    squares += __shfl_xor_sync(0xffffffffu, squares, 2);
    factor *= rsqrtf(squares * factor * factor / (float)kAttendDim + eps);
  }
#pragma unroll
  for (int c = 0; c < kPairs; ++c) {
    float low[8], high[8];
    WidenEight(pieces[c], low);
    WidenEight(pieces[c + kPairs], high);
    const int at = 32 * c + 8 * t;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      low[i] *= factor;
      high[i] *= factor;
    }
    if (weight != nullptr) {
      float scale[8];
      WidenEight(*(const uint4*)(weight + at), scale);
#pragma unroll
      for (int i = 0; i < 8; ++i) low[i] *= scale[i];
      WidenEight(*(const uint4*)(weight + kAttendDim / 2 + at), scale);
#pragma unroll
      for (int i = 0; i < 8; ++i) high[i] *= scale[i];
    }
    float cosine[8], sine[8];
    ReadEight(turn + at, cosine);
    ReadEight(turn + kAttendDim / 2 + at, sine);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float below = low[i];
      low[i] = below * cosine[i] - high[i] * sine[i];
      high[i] = high[i] * cosine[i] + below * sine[i];
    }
    pieces[c] = NarrowEight(low);
    pieces[c + kPairs] = NarrowEight(high);
  }
}

// Of two words of two values each, the first values or the second ones as one word.
__device__ __forceinline__ unsigned FirstsOf(unsigned a, unsigned b) { return (a & 0xffffu) | b << 16; }
__device__ __forceinline__ unsigned SecondsOf(unsigned a, unsigned b) { return a >> 16 | (b & 0xffff0000u); }

// Scores of 16 keys, not scaled: rows g and g + 8, columns 2 t and 2 t + 1.
__device__ __forceinline__ void ScoreTile(const uint4 (*key)[kAttendPieces], const uint4* query, float* score) {
  score[0] = score[1] = score[2] = score[3] = 0.0f;
#pragma unroll
  for (int c = 0; c < kAttendPieces; ++c) {
    const uint4 &top = key[0][c], &low = key[1][c];
    Mma(score, top.x, low.x, top.y, low.y, query[c].x, query[c].y);
    Mma(score, top.z, low.z, top.w, low.w, query[c].z, query[c].w);
  }
}

// kWhole: q lies in rows of q, k and v heads as the product made them, `q_stride` apart. They are normalised and rotated
// here, the new key and value are stored in the cache as the last of the positions, and what lies in it before is loaded
// while the kernel ahead runs. With `x`, rows of 8 `x_chunks` values that the product took as they are, heads are multiplied
// by the factor of its RMS norm. Otherwise q is ready and the cache is whole.
template <bool kWhole>
__device__ __forceinline__ void Attend(const Bf16* q, long long q_stride, Bf16* keys, Bf16* values, const int* starts,
                                       const int* lengths, float scale, int kv_heads, Bf16* out, const Bf16* q_norm,
                                       const Bf16* k_norm, float eps, const float* cos_sin, const long long* positions,
                                       const uint4* x, int x_chunks) {
  const int warps = blockDim.x / 32;
  const int round = warps * kAttendStep;  // positions of a block
  __shared__ float merged[kAttendWarps][DV_GROUP][kAttendDim];
  __shared__ float tops[kAttendWarps][DV_GROUP], totals[kAttendWarps][DV_GROUP];
  const int kv_head = blockIdx.x;
  const long long row = blockIdx.y;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int g = lane / 4, t = lane % 4;
  const int length = lengths[row] - (kWhole ? 1 : 0);  // positions that are read
  const int stride = kv_heads * kAttendDim;
  const long long begin = (long long)starts[row] * stride + kv_head * kAttendDim;
  Bf16* const key = keys + begin + 8 * t;
  Bf16* const value = values + begin + 8 * g;
  const int first = warp * kAttendStep;
  if (kWhole) ReleaseNext();

  uint4 k[kAttendTiles][2][kAttendPieces], v[kAttendTiles][4][kAttendHalves];
  // Behind the last position the first is read; its weights are 0.
  const auto offset = [&](int position) { return (unsigned)(position < length ? position : 0) * (unsigned)stride; };
  const auto load_keys = [&](int base) {
#pragma unroll
    for (int tile = 0; tile < kAttendTiles; ++tile)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Bf16* const at = key + offset(base + 16 * tile + 8 * i + g);
#pragma unroll
        for (int c = 0; c < kAttendPieces; ++c) k[tile][i][c] = *(const uint4*)(at + 32 * c);
      }
  };
  const auto load_values = [&](int base) {
#pragma unroll
    for (int tile = 0; tile < kAttendTiles; ++tile)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const Bf16* const at = value + offset(base + 16 * tile + i / 2 * 8 + 2 * t + i % 2);
#pragma unroll
        for (int h = 0; h < kAttendHalves; ++h) v[tile][i][h] = *(const uint4*)(at + 64 * h);
      }
  };
  if (first < length) {
    load_keys(first);
    load_values(first);
  }

  uint4 query[kAttendPieces];
  float top[2] = {kAttendLow, kAttendLow}, total[2] = {0.0f, 0.0f};
  float sum[4 * kAttendHalves][4];  // of a head's values 64 h + 8 g + 2 j and its next; columns 2 t and 2 t + 1
#pragma unroll
  for (int j = 0; j < 4 * kAttendHalves; ++j) sum[j][0] = sum[j][1] = sum[j][2] = sum[j][3] = 0.0f;
  const int head = g < DV_GROUP ? g : 0;
  const Bf16* const from = q + row * q_stride + (kv_head * DV_GROUP + head) * kAttendDim + 8 * t;
  if (kWhole) {
    const int ahead = round + first + lane / kAttendHalves;
    if (ahead < length) {
      const long long at = begin + (long long)ahead * stride + lane % kAttendHalves * 64;
      Prefetch(keys + at);
      Prefetch(values + at);
    }
    AwaitPrevious();
#pragma unroll
    for (int c = 0; c < kAttendPieces; ++c) query[c] = LoadFresh((const uint4*)(from + 32 * c));
    const float* const turn = cos_sin + positions[row] * kAttendDim;
    const float factor = x != nullptr ? NormFactor(x + row * x_chunks, x_chunks, eps) : 1.0f;
    TurnHead(query, factor, q_norm, eps, turn, t);
    if (warp == 0) {
      // The new position is the first that this warp sees.
      const Bf16* const new_key = q + row * q_stride + (kv_heads * DV_GROUP + kv_head) * kAttendDim;
      const long long last = (long long)length * stride;
      uint4 turned[2][kAttendPieces];
#pragma unroll
      for (int c = 0; c < kAttendPieces; ++c) turned[0][c] = LoadFresh((const uint4*)(new_key + 32 * c + 8 * t));
      TurnHead(turned[0], factor, k_norm, eps, turn, t);
#pragma unroll
      for (int c = 0; c < kAttendPieces; ++c) {
        if (g == 0) *(uint4*)(key + last + 32 * c) = turned[0][c];
        turned[1][c] = turned[0][c];
      }
      float score[4];
      ScoreTile(turned, query, score);
      top[0] = score[0] * scale;
      top[1] = score[1] * scale;
      total[0] = total[1] = g == 0 ? 1.0f : 0.0f;
#pragma unroll
      for (int h = 0; h < kAttendHalves; ++h) {
        float wide[8];
        WidenEight(LoadFresh((const uint4*)(new_key + stride + 64 * h + 8 * g)), wide);
#pragma unroll
        for (int i = 0; i < 8; ++i) wide[i] *= factor;
        const uint4 kept = NarrowEight(wide);
        if (t == 0) *(uint4*)(value + last + 64 * h) = kept;
        WidenEight(kept, wide);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          sum[4 * h + j][0] = sum[4 * h + j][1] = wide[2 * j];
          sum[4 * h + j][2] = sum[4 * h + j][3] = wide[2 * j + 1];
        }
      }
    }
  } else {
#pragma unroll
    for (int c = 0; c < kAttendPieces; ++c) query[c] = *(const uint4*)(from + 32 * c);
  }

#pragma unroll 1
  for (int base = first; base < length; base += round) {
    float score[kAttendTiles][4];
#pragma unroll
    for (int tile = 0; tile < kAttendTiles; ++tile) ScoreTile(k[tile], query, score[tile]);
    if (base + round < length) load_keys(base + round);
    float best[2] = {top[0], top[1]}, shrink[2];
    bool inside[kAttendTiles][2];
#pragma unroll
    for (int tile = 0; tile < kAttendTiles; ++tile)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        inside[tile][i / 2] = base + 16 * tile + i / 2 * 8 + g < length;
        score[tile][i] = inside[tile][i / 2] ? score[tile][i] * scale : kAttendLow;  // with log2(e): powers of two
        best[i % 2] = fmaxf(best[i % 2], score[tile][i]);
      }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int step = 4; step < 32; step *= 2) best[i] = fmaxf(best[i], __shfl_xor_sync(0xffffffffu, best[i], step));
      shrink[i] = PowerOfTwo(top[i] - best[i]);
      top[i] = best[i];
      total[i] *= shrink[i];
    }
#pragma unroll
    for (int j = 0; j < 4 * kAttendHalves; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[j][i] *= shrink[i % 2];
#pragma unroll
    for (int tile = 0; tile < kAttendTiles; ++tile) {
      unsigned weights[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float* const of = score[tile] + 2 * i;
        weights[i] = NarrowPair(PowerOfTwo(of[0] - top[0]), PowerOfTwo(of[1] - top[1]));
        if (!inside[tile][i]) weights[i] = 0u;
        total[0] += __uint_as_float(weights[i] << 16);
        total[1] += __uint_as_float(weights[i] & 0xffff0000u);
        weights[i] = Transpose(weights[i]);
      }
#pragma unroll
      for (int h = 0; h < kAttendHalves; ++h) {
        const uint4 &a = v[tile][0][h], &b = v[tile][1][h], &c = v[tile][2][h], &d = v[tile][3][h];
        const auto add = [&](float* to, unsigned a_word, unsigned b_word, unsigned c_word, unsigned d_word) {
          Mma(to, FirstsOf(a_word, b_word), SecondsOf(a_word, b_word), FirstsOf(c_word, d_word),
              SecondsOf(c_word, d_word), weights[0], weights[1]);
        };
        add(sum[4 * h], a.x, b.x, c.x, d.x);
        add(sum[4 * h + 1], a.y, b.y, c.y, d.y);
        add(sum[4 * h + 2], a.z, b.z, c.z, d.z);
        add(sum[4 * h + 3], a.w, b.w, c.w, d.w);
      }
    }
    if (base + round < length) load_values(base + round);
  }

#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int step = 4; step < 32; step *= 2) total[i] += __shfl_xor_sync(0xffffffffu, total[i], step);
    const int of = 2 * t + i;
    if (of >= DV_GROUP) continue;
#pragma unroll
    for (int j = 0; j < 4 * kAttendHalves; ++j) {
      float* const to = merged[warp][of] + j / 4 * 64 + 8 * g + j % 4 * 2;
      to[0] = sum[j][i];
      to[1] = sum[j][2 + i];
    }
    if (g == 0) {
      tops[warp][of] = top[i];
      totals[warp][of] = total[i];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < DV_GROUP * kAttendDim; i += blockDim.x) {
    const int of = i / kAttendDim, d = i % kAttendDim;
    float best = tops[0][of];
    for (int w = 1; w < warps; ++w) best = fmaxf(best, tops[w][of]);
    float numerator = 0.0f, denominator = 0.0f;
    for (int w = 0; w < warps; ++w) {
      const float shrink = exp2f(tops[w][of] - best);
      numerator += merged[w][of][d] * shrink;
      denominator += totals[w][of] * shrink;
    }
    out[((row * kv_heads + kv_head) * DV_GROUP + of) * kAttendDim + d] = Narrow(numerator / denominator);
  }
}

extern "C" __global__ void __launch_bounds__(32 * kAttendResident)
    dv_attend(const Bf16* q, long long q_stride, Bf16* keys, Bf16* values, const int* starts, const int* lengths,
              float scale, int kv_heads, Bf16* out) {
  Attend<false>(q, q_stride, keys, values, starts, lengths, scale, kv_heads, out, nullptr, nullptr, 0.0f, nullptr,
                nullptr, nullptr, 0);
}

extern "C" __global__ void __launch_bounds__(32 * kAttendResident)
    dv_attend_whole(const Bf16* q, long long q_stride, Bf16* keys, Bf16* values, const int* starts, const int* lengths,
                    float scale, int kv_heads, Bf16* out, const Bf16* q_norm, const Bf16* k_norm, float eps,
                    const float* cos_sin, const long long* positions, const uint4* x, int x_chunks) {
  Attend<true>(q, q_stride, keys, values, starts, lengths, scale, kv_heads, out, q_norm, k_norm, eps, cos_sin,
               positions, x, x_chunks);
}
#endif  // DV_GROUP
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
