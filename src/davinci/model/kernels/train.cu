// What a training pass computes between its matrix products, forward and backward, each in one launch: norms with the
// residual's gradient, rotary heads, the gated activation, log-probabilities and their derivatives; and the update of all
// tensors. ATen needs up to twenty launches for one of them, and as many passes over its memory.
//
// Compiled by NVRTC without headers, behind common.cu (train_kernels.cc, where parameters and launches are documented),
// and by the host's compiler in train_kernels_test.cc, which runs every thread of a block. Elements are bf16, sums fp32.
// Every sum has an order that depends on sizes only; there are no atomics.

// NOLINTBEGIN(performance-no-int-to-ptr): slots hold addresses as numbers
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a tile fit 32 bits, which take fewer registers
__device__ __forceinline__ void ReadFloats(const float* from, float* values) {
  const uint4* const words = (const uint4*)from;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint4 part = words[i];
    values[4 * i] = __uint_as_float(part.x);
    values[4 * i + 1] = __uint_as_float(part.y);
    values[4 * i + 2] = __uint_as_float(part.z);
    values[4 * i + 3] = __uint_as_float(part.w);
  }
}

// Sums over a block of two values a thread, the same in every thread. Calls that follow each other use different
// `slots`, by turns: one barrier a call is enough.
__device__ __forceinline__ void BlockSums(float* a, float* b, float (*slots)[2]) {
  const int warps = blockDim.x / 32;
  *a = WarpSum(*a);
  *b = WarpSum(*b);
  if (threadIdx.x % 32 == 0) {
    slots[threadIdx.x / 32][0] = *a;
    slots[threadIdx.x / 32][1] = *b;
  }
  __syncthreads();
  *a = 0.0f;
  *b = 0.0f;
  for (int w = 0; w < warps; ++w) {
    *a += slots[w][0];
    *b += slots[w][1];
  }
}

// RMS norm of rows of 8 `chunks` values. A block does row after row, a thread the same eight columns of each.
extern "C" __global__ void __launch_bounds__(640)
    dv_train_norm(const uint4* x, const uint4* weight, uint4* out, long long rows, int chunks, float eps) {
  __shared__ float slots[2][32][2];
  const int c = threadIdx.x;
  const bool inside = c < chunks;
  const uint4 nothing = make_uint4(0, 0, 0, 0);
  float scale[8];
  WidenEight(inside ? weight[c] : nothing, scale);
  uint4 next = inside ? x[(long long)blockIdx.x * chunks + c] : nothing;
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    float value[8];
    WidenEight(next, value);
    // The next row is under way while this one is computed.
    if (inside && row + gridDim.x < rows) next = x[(row + gridDim.x) * chunks + c];
    float squares = 0.0f, unused = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) squares += value[i] * value[i];
    BlockSums(&squares, &unused, slots[turn]);
    const float factor = rsqrtf(squares / (float)(8 * chunks) + eps);
#pragma unroll
    for (int i = 0; i < 8; ++i) value[i] *= factor * scale[i];
    if (inside) out[row * chunks + c] = NarrowEight(value);
  }
}

// d_x = d_sum (null: 0) + what d_out makes of the norm of x. parts (null: not): each block's sum of d weight, fp32
// [blocks, 8 chunks].
extern "C" __global__ void __launch_bounds__(640)
    dv_train_norm_back(const uint4* x, const uint4* weight, const uint4* d_out, const uint4* d_sum, uint4* d_x,
                       float* parts, long long rows, int chunks, float eps) {
  __shared__ float slots[2][32][2];
  const int c = threadIdx.x;
  const bool inside = c < chunks;
  const uint4 nothing = make_uint4(0, 0, 0, 0);
  const uint4 weights = inside ? weight[c] : nothing;
  const float size = (float)(8 * chunks);
  float sum[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  uint4 next_x = nothing, next_slope = nothing, next_sum = nothing;
  if (inside) {
    const long long at = (long long)blockIdx.x * chunks + c;
    next_x = x[at];
    next_slope = d_out[at];
    if (d_sum != nullptr) next_sum = d_sum[at];
  }
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    float value[8], slope[8], scale[8], added[8];
    WidenEight(next_x, value);
    WidenEight(next_slope, slope);
    WidenEight(next_sum, added);
    WidenEight(weights, scale);
    if (inside && row + gridDim.x < rows) {
      const long long at = (row + gridDim.x) * chunks + c;
      next_x = x[at];
      next_slope = d_out[at];
      if (d_sum != nullptr) next_sum = d_sum[at];
    }
    float squares = 0.0f, dot = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      squares += value[i] * value[i];
      dot += value[i] * slope[i] * scale[i];
    }
    BlockSums(&squares, &dot, slots[turn]);
    const float factor = rsqrtf(squares / size + eps);
    const float back = factor * factor * factor * dot / size;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sum[i] += slope[i] * value[i] * factor;
      added[i] += factor * scale[i] * slope[i] - back * value[i];
    }
    if (inside) d_x[row * chunks + c] = NarrowEight(added);
  }
  if (parts == nullptr || !inside) return;
#pragma unroll
  for (int i = 0; i < 8; ++i) parts[((long long)blockIdx.x * chunks + c) * 8 + i] = sum[i];
}

// out[i] = sum over p of parts[p][i]. A block does 32 columns, each warp every 32nd part.
extern "C" __global__ void __launch_bounds__(1024) dv_train_sum(const float* parts, Bf16* out, int count, int width) {
  __shared__ float sums[32][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int column = blockIdx.x * 32 + lane;
  float sum = 0.0f;
  if (column < width) {
#pragma unroll 4
    for (int p = warp; p < count; p += 32) sum += parts[(long long)p * width + column];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= width) return;
  sum = 0.0f;
  for (int w = 0; w < 32; ++w) sum += sums[w][lane];
  out[column] = Narrow(sum);
}

__device__ __forceinline__ float GroupSum(float value, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

// In both kernels of heads `lanes`, a power of two, neighbouring threads do one head, each eight values of its lower
// half and their partners in the upper; a thread has the same head in every row it sees. A block does `at_once` rows.

// Normalises (weights given) and rotates q and k heads. Rows of `in` and `out`, which may be the same memory, are
// in_stride and out_stride values apart.
extern "C" __global__ void __launch_bounds__(1024)
    dv_train_heads(const Bf16* in, long long in_stride, Bf16* out, long long out_stride, const Bf16* q_norm,
                   const Bf16* k_norm, float eps, const float* cos_sin, const long long* positions, long long rows,
                   int heads, int kv_heads, int dim, int lanes, int at_once) {
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
  const int head = group % (heads + kv_heads), offset = group / (heads + kv_heads);
  const int half = dim / 2;
  const int low_at = 8 * lane, high_at = half + 8 * lane;
  const bool inside = low_at < half && offset < at_once;
  const Bf16* const weight = head < heads ? q_norm : k_norm;
  float low_weight[8], high_weight[8];
  if (inside && weight != nullptr) {
    WidenEight(*(const uint4*)(weight + low_at), low_weight);
    WidenEight(*(const uint4*)(weight + high_at), high_weight);
  }
  for (long long base = (long long)blockIdx.x * at_once; base < rows; base += (long long)gridDim.x * at_once) {
    const long long row = base + offset;
    const bool active = inside && row < rows;
    float low[8] = {}, high[8] = {};
    if (active) {
      const Bf16* const x = in + row * in_stride + head * dim;
      WidenEight(*(const uint4*)(x + low_at), low);
      WidenEight(*(const uint4*)(x + high_at), high);
    }
    if (q_norm != nullptr) {
      float squares = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) squares += low[i] * low[i] + high[i] * high[i];
      const float factor = rsqrtf(GroupSum(squares, lanes) / (float)dim + eps);
      if (active) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          low[i] *= factor * low_weight[i];
          high[i] *= factor * high_weight[i];
        }
      }
    }
    if (!active) continue;
    float cosine[8], sine[8];
    const float* const turn = cos_sin + positions[row] * dim;
    ReadFloats(turn + low_at, cosine);
    ReadFloats(turn + high_at, sine);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float a = low[i], b = high[i];
      low[i] = a * cosine[i] - b * sine[i];
      high[i] = b * cosine[i] + a * sine[i];
    }
    Bf16* const y = out + row * out_stride + head * dim;
    *(uint4*)(y + low_at) = NarrowEight(low);
    *(uint4*)(y + high_at) = NarrowEight(high);
  }
}

constexpr int kMostHeadThreads = 768;  // a thread of more would have too few registers

// d_qkv from the gradients of q and k, rotated, and of v. qkv: before norm and rotation; without norms it is not read.
// parts (null: not): each block's sums of d q_norm and d k_norm, fp32 [blocks, 2 dim].
extern "C" __global__ void __launch_bounds__(kMostHeadThreads)
    dv_train_heads_back(const Bf16* qkv, const Bf16* d_q, const Bf16* d_k, const Bf16* d_v, Bf16* d_qkv,
                        const Bf16* q_norm, const Bf16* k_norm, float eps, const float* cos_sin,
                        const long long* positions, float* parts, long long rows, int heads, int kv_heads, int dim,
                        int lanes, int at_once) {
  __shared__ float shared[8][kMostHeadThreads + 4];  // 4: the columns of eight threads lie in other banks
  const int total = heads + 2 * kv_heads;
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
  const int head = group % total, offset = group / total;
  const int half = dim / 2;
  const int low_at = 8 * lane, high_at = half + 8 * lane;
  const bool inside = low_at < half && offset < at_once;
  const Bf16* const from = head < heads ? d_q : head < heads + kv_heads ? d_k : d_v;
  const int from_heads = head < heads ? heads : kv_heads;
  const int from_head = head < heads ? head : head < heads + kv_heads ? head - heads : head - heads - kv_heads;
  const bool turned = head < heads + kv_heads;
  const Bf16* const weight = head < heads ? q_norm : k_norm;
  float low_sum[8] = {}, high_sum[8] = {};
  for (long long base = (long long)blockIdx.x * at_once; base < rows; base += (long long)gridDim.x * at_once) {
    const long long row = base + offset;
    const bool active = inside && row < rows;
    const long long to = (row * total + head) * dim;
    uint4 low_bits = make_uint4(0, 0, 0, 0), high_bits = make_uint4(0, 0, 0, 0);
    if (active) {
      const Bf16* const slope = from + (row * from_heads + from_head) * dim;
      low_bits = *(const uint4*)(slope + low_at);
      high_bits = *(const uint4*)(slope + high_at);
    }
    float low[8], high[8];  // the gradients
    WidenEight(low_bits, low);
    WidenEight(high_bits, high);
    if (active && turned) {
      float cosine[8], sine[8];
      const float* const turn = cos_sin + positions[row] * dim;
      ReadFloats(turn + low_at, cosine);
      ReadFloats(turn + high_at, sine);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float a = low[i], b = high[i];
        low[i] = a * cosine[i] + b * sine[i];
        high[i] = b * cosine[i] - a * sine[i];
      }
    }
    if (q_norm != nullptr) {
      float low_x[8] = {}, high_x[8] = {}, low_weight[8] = {}, high_weight[8] = {};
      if (active && turned) {
        WidenEight(*(const uint4*)(qkv + to + low_at), low_x);
        WidenEight(*(const uint4*)(qkv + to + high_at), high_x);
        WidenEight(*(const uint4*)(weight + low_at), low_weight);
        WidenEight(*(const uint4*)(weight + high_at), high_weight);
      }
      float squares = 0.0f, dot = 0.0f;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        squares += low_x[i] * low_x[i] + high_x[i] * high_x[i];
        dot += low_x[i] * low_weight[i] * low[i] + high_x[i] * high_weight[i] * high[i];
      }
      squares = GroupSum(squares, lanes);
      dot = GroupSum(dot, lanes);
      const float factor = rsqrtf(squares / (float)dim + eps);
      const float back = factor * factor * factor * dot / (float)dim;
      if (active && turned) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          low_sum[i] += low[i] * low_x[i] * factor;
          high_sum[i] += high[i] * high_x[i] * factor;
          low[i] = factor * low_weight[i] * low[i] - back * low_x[i];
          high[i] = factor * high_weight[i] * high[i] - back * high_x[i];
        }
      }
    }
    if (!active) continue;
    *(uint4*)(d_qkv + to + low_at) = NarrowEight(low);
    *(uint4*)(d_qkv + to + high_at) = NarrowEight(high);
  }
  if (parts == nullptr) return;
  // First the lower halves of heads, then the upper ones: a thread adds up one column of all heads of a kind, in order.
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) shared[i][threadIdx.x] = part == 0 ? low_sum[i] : high_sum[i];
    __syncthreads();
    for (int c = threadIdx.x; c < 2 * half; c += blockDim.x) {
      const int kind = c / half, column = c % half;
      const int first = kind == 0 ? 0 : heads, last = kind == 0 ? heads : heads + kv_heads;
      float sum = 0.0f;
      for (int o = 0; o < at_once; ++o)
        for (int h = first; h < last; ++h) sum += shared[column % 8][(o * total + h) * lanes + column / 8];
      parts[((long long)blockIdx.x * 2 + kind) * dim + part * half + column] = sum;
    }
  }
}

// d_both from the gradient of silu(gate) * up; eight elements a thread, width = 8 `chunks`.
extern "C" __global__ void __launch_bounds__(256)
    dv_train_silu_back(const uint4* both, const uint4* d_out, uint4* d_both, unsigned total, unsigned chunks) {
  const unsigned i = blockIdx.x * 256u + threadIdx.x;
  if (i >= total) return;
  const long long gate_at = i + (long long)(i / chunks) * chunks;
  float gate[8], up[8], slope[8], d_gate[8], d_up[8];
  WidenEight(both[gate_at], gate);
  WidenEight(both[gate_at + chunks], up);
  WidenEight(d_out[i], slope);
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    const float sigmoid = 1.0f / (1.0f + expf(-gate[e]));
    d_up[e] = slope[e] * gate[e] * sigmoid;
    d_gate[e] = slope[e] * up[e] * sigmoid * (1.0f + gate[e] * (1.0f - sigmoid));
  }
  d_both[gate_at] = NarrowEight(d_gate);
  d_both[gate_at + chunks] = NarrowEight(d_up);
}

// A softmax under way: sum of exp(z - top), and of exp(z - top) (z - top).
struct Running {
  float top, sum, spread;
};
constexpr float kScoreLow = -1e30f;  // below every logit

__device__ __forceinline__ Running Merge(Running a, Running b) {
  const float top = fmaxf(a.top, b.top);
  const float down_a = a.top - top, down_b = b.top - top;
  const float shrink_a = expf(down_a), shrink_b = expf(down_b);
  return {top, a.sum * shrink_a + b.sum * shrink_b,
          shrink_a * (a.spread + down_a * a.sum) + shrink_b * (b.spread + down_b * b.sum)};
}

// row of logits -> slope * inverse * (1[expected] - softmax(row * inverse))
__device__ __forceinline__ void Differentiate(uint4* row, int chunks, float inverse, long long expected, float slope,
                                              float log_sum) {
  const float scale = slope * inverse;
  const int expected_chunk = (int)(expected / 8), expected_place = (int)(expected % 8);
#pragma unroll 2
  for (int c = threadIdx.x; c < chunks; c += blockDim.x) {
    float z[8];
    WidenEight(row[c], z);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float hit = c == expected_chunk && i == expected_place ? 1.0f : 0.0f;
      z[i] = scale * (hit - expf(z[i] * inverse - log_sum));
    }
    row[c] = NarrowEight(z);
  }
}

// Log-probabilities of the expected tokens, log-sums and (not null) entropies of rows of 8 `chunks` logits; where slopes
// are given, each row becomes its derivatives in place. One block a row.
extern "C" __global__ void __launch_bounds__(1024)
    dv_train_score(uint4* logits, int chunks, float inverse, const long long* expected, const float* slopes,
                   float* log_probs, float* log_sums, float* entropies) {
  __shared__ Running merged[32];
  const long long r = blockIdx.x;
  uint4* const row = logits + r * chunks;
  const float chosen = Widen(((const Bf16*)row)[expected[r]]) * inverse;
  Running mine = {kScoreLow, 0.0f, 0.0f};
#pragma unroll 2
  for (int c = threadIdx.x; c < chunks; c += blockDim.x) {
    float z[8];
    WidenEight(row[c], z);
    float top = kScoreLow;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      z[i] *= inverse;
      top = fmaxf(top, z[i]);
    }
    float sum = 0.0f, spread = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float weight = expf(z[i] - top);
      sum += weight;
      if (entropies != nullptr && weight > 0.0f) spread += weight * (z[i] - top);
    }
    mine = Merge(mine, {top, sum, spread});
  }
  for (int step = 16; step > 0; step /= 2) {
    Running other;
    other.top = __shfl_xor_sync(0xffffffffu, mine.top, step);
    other.sum = __shfl_xor_sync(0xffffffffu, mine.sum, step);
    other.spread = __shfl_xor_sync(0xffffffffu, mine.spread, step);
    mine = Merge(mine, other);
  }
  if (threadIdx.x % 32 == 0) merged[threadIdx.x / 32] = mine;
  __syncthreads();
  Running all = merged[0];
  for (int w = 1; w < (int)blockDim.x / 32; ++w) all = Merge(all, merged[w]);
  const float log_sum = all.top + logf(all.sum);
  if (threadIdx.x == 0) {
    log_probs[r] = chosen - log_sum;
    log_sums[r] = log_sum;
    if (entropies != nullptr) entropies[r] = logf(all.sum) - all.spread / all.sum;
  }
  if (slopes != nullptr) Differentiate(row, chunks, inverse, expected[r], slopes[r], log_sum);
}

// The derivatives alone, of rows that dv_train_score has seen.
extern "C" __global__ void __launch_bounds__(1024)
    dv_train_score_back(uint4* logits, int chunks, float inverse, const long long* expected, const float* slopes,
                        const float* log_sums) {
  const long long r = blockIdx.x;
  Differentiate(logits + r * chunks, chunks, inverse, expected[r], slopes[r], log_sums[r]);
}

// The update reads tables that the host writes: of each tensor kSlotWords words (train_kernels.h), and of each block the
// tensor and which kUpdateChunk of its elements it does.
constexpr int kSlotWords = 7;
constexpr long long kUpdateChunk = 16384;
constexpr long long kSlotDecays = 1, kSlotHalf = 2, kSlotDense = 4;

__device__ __forceinline__ void WriteFloats(float* to, const float* values) {
  uint4* const words = (uint4*)to;
#pragma unroll
  for (int i = 0; i < 2; ++i)
    words[i] = make_uint4(__float_as_uint(values[4 * i]), __float_as_uint(values[4 * i + 1]),
                          __float_as_uint(values[4 * i + 2]), __float_as_uint(values[4 * i + 3]));
}

// Eight gradients from element e on, 0 behind the end.
__device__ __forceinline__ void ReadGradients(const long long* slot, long long e, float* values) {
  const long long count = slot[5], flags = slot[6];
  if ((flags & kSlotDense) != 0 && e + 8 <= count) {
    if ((flags & kSlotHalf) != 0)
      WidenEight(*(const uint4*)((const Bf16*)slot[0] + e), values);
    else
      ReadFloats((const float*)slot[0] + e, values);
    return;
  }
  for (int i = 0; i < 8; ++i) {
    values[i] = 0.0f;
    if (e + i < count)
      values[i] = (flags & kSlotHalf) != 0 ? Widen(((const Bf16*)slot[0])[e + i]) : ((const float*)slot[0])[e + i];
  }
}

// Each block's sum of squares of gradients.
extern "C" __global__ void __launch_bounds__(256)
    dv_train_squares(const long long* slots, const unsigned* blocks, float* parts) {
  __shared__ float sums[32][2];
  const long long* const slot = slots + kSlotWords * blocks[2 * blockIdx.x];
  const long long begin = kUpdateChunk * blocks[2 * blockIdx.x + 1];
  float squares = 0.0f, unused = 0.0f;
#pragma unroll 2
  for (long long at = 8 * threadIdx.x; at < kUpdateChunk && begin + at < slot[5]; at += 8 * 256) {
    float gradient[8];
    ReadGradients(slot, begin + at, gradient);
#pragma unroll
    for (int i = 0; i < 8; ++i) squares += gradient[i] * gradient[i];
  }
  BlockSums(&squares, &unused, sums);
  if (threadIdx.x == 0) parts[blockIdx.x] = squares;
}

// total = sum of parts, in fp64. One block.
extern "C" __global__ void __launch_bounds__(1024) dv_train_total(const float* parts, long long count, double* total) {
  __shared__ double sums[1024];
  double sum = 0.0;
  for (long long i = threadIdx.x; i < count; i += blockDim.x) sum += parts[i];
  sums[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *total = sums[0];
}

// AdamW with decoupled decay. Gradients are scaled to the norm clip_norm (0: not) where theirs, the root of `squares`, is
// above; where that is not finite nothing is changed. rate_decay: learning rate times decay; step_size: learning rate over
// the first moment's correction; correction: root of the second one's.
extern "C" __global__ void __launch_bounds__(256)
    dv_train_adamw(const long long* slots, const unsigned* blocks, const double* squares, float clip_norm, float beta1,
                   float beta2, float eps, float rate_decay, float step_size, float correction) {
  const double norm = sqrt(*squares);
  if (!(norm - norm == 0.0)) return;
  const float clip = clip_norm > 0.0f && norm > clip_norm ? (float)(clip_norm / (norm + 1e-6)) : 1.0f;
  const long long* const slot = slots + kSlotWords * blocks[2 * blockIdx.x];
  const long long begin = kUpdateChunk * blocks[2 * blockIdx.x + 1];
  float* const masters = (float*)slot[1];
  float* const firsts = (float*)slot[2];
  float* const seconds = (float*)slot[3];
  Bf16* const weights = (Bf16*)slot[4];
  const long long count = slot[5], flags = slot[6];
  const float decay = (flags & kSlotDecays) != 0 ? rate_decay : 0.0f;
  for (long long at = 8 * threadIdx.x; at < kUpdateChunk && begin + at < count; at += 8 * 256) {
    const long long e = begin + at;
    const bool dense = (flags & kSlotDense) != 0 && e + 8 <= count;
    float gradient[8], master[8] = {}, first[8] = {}, second[8] = {};
    ReadGradients(slot, e, gradient);
    if (dense) {
      ReadFloats(masters + e, master);
      ReadFloats(firsts + e, first);
      ReadFloats(seconds + e, second);
    } else {
      for (int i = 0; i < 8 && e + i < count; ++i) {
        master[i] = masters[e + i];
        first[i] = firsts[e + i];
        second[i] = seconds[e + i];
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float g = gradient[i] * clip;
      first[i] += (1.0f - beta1) * (g - first[i]);
      second[i] = beta2 * second[i] + (1.0f - beta2) * g * g;
      master[i] -= decay * master[i];
      master[i] -= step_size * first[i] / (sqrtf(second[i]) / correction + eps);
    }
    if (dense) {
      WriteFloats(masters + e, master);
      WriteFloats(firsts + e, first);
      WriteFloats(seconds + e, second);
      if (weights != nullptr) *(uint4*)(weights + e) = NarrowEight(master);
    } else {
      for (int i = 0; i < 8 && e + i < count; ++i) {
        masters[e + i] = master[i];
        firsts[e + i] = first[i];
        seconds[e + i] = second[i];
        if (weights != nullptr) weights[e + i] = Narrow(master[i]);
      }
    }
  }
}
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
// NOLINTEND(performance-no-int-to-ptr)
