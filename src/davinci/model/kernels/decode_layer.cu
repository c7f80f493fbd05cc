// The products of a decode step's layer with what lies around them, each in one launch: RMS norm before a product, the
// gate of silu(gate) * up or the residual behind it. For few rows and small matrices, where a launch costs more than
// its work. Behind common.cu; compiled and tested as decode.cu is.
//
// y[m][n] = sum_k x[m][k] w[n][k]. A block of kProductWarps warps is kGroups groups. A group makes 16 kM rows by 8 kN
// columns, each of its warps all of that for a part of k: operands go from memory into the registers of the tensor cores
// without shared memory, 16 bytes a lane. A lane's eight elements of k are those of two mma steps; x and w are permuted
// alike, which a sum does not see. Partial sums meet in shared memory in the order of the warps: a row's bits depend on
// nothing but itself and kGroups.
//
// Weights are on their way before the kernel ahead has ended (AwaitPrevious).

// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result): offsets within a tile fit 32 bits, which take fewer registers
constexpr int kProductWarps = 8;
constexpr int kProductStep = 32;  // elements of k of one round of loads

// How many of a group's kM row tiles have their partial sums in shared memory at once: at most 32 KiB of them.
template <int kM, int kN>
constexpr int kProductRound = 8 / kN < kM ? 8 / kN : kM;

// kNorm: of x's RMS norm with `norm`. kGate: w has 2 width rows, out[m][n] = silu(y[m][n]) * y[m][width + n]. `bias`: of
// y, or null. `residual`: added to y, or null; may be `out`. x: rows of k elements, out: rows of `width`. k is a multiple
// of 32, width of 2.
template <int kM, int kN, int kGroups, bool kNorm, bool kGate>
__device__ __forceinline__ void Product(const Bf16* x, const Bf16* norm, float eps, const Bf16* w, const Bf16* bias,
                                        const Bf16* residual, Bf16* out, int rows, int width, int k) {
  constexpr int kRound = kProductRound<kM, kN>;
  constexpr int kPairs = 2 * kN;                         // of one row tile and lane
  constexpr int kOut = kGate ? kN : kPairs;              // pairs of results of one row tile and lane
  constexpr int kParts = kProductWarps / kGroups;        // of k: a group's warps
  constexpr int kMine = (kOut * kRound + kParts - 1) / kParts;  // pairs a warp and lane finishes in a round
  constexpr bool kAhead = kM * kN <= 16;                 // registers for x's next elements
  __shared__ float2 sums[kProductWarps * kRound * kPairs * 32];
  __shared__ float squares[kProductWarps * 16 * kM];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int g = lane / 4, t = lane % 4;
  const int group = warp / kParts, part = warp % kParts;
  const int row0 = (blockIdx.y * kGroups + group) * 16 * kM;
  const int column0 = blockIdx.x * (kGate ? 4 : 8) * kN;
  ReleaseNext();

  // Rows and columns behind the last read the last; their results are not stored.
  unsigned from_w[kN], from_x[2 * kM];
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    const int side = kGate && j >= kN / 2 ? 1 : 0;
    int n = column0 + (j - side * (kN / 2)) * 8 + g;
    n = (n < width ? n : width - 1) + side * width;
    from_w[j] = (unsigned)n * (unsigned)k + 8u * t;
  }
#pragma unroll
  for (int i = 0; i < 2 * kM; ++i) {
    const int m = row0 + 8 * i + g;
    from_x[i] = (unsigned)(m < rows ? m : rows - 1) * (unsigned)k + 8u * t;
  }

  uint4 next_w[kN] = {}, next_x[kAhead ? 2 * kM : 1] = {}, scale = {};
  const auto load_w = [&](int at) {
#pragma unroll
    for (int j = 0; j < kN; ++j) next_w[j] = *(const uint4*)(w + from_w[j] + at);
    if (kNorm) scale = *(const uint4*)(norm + at + 8 * t);
  };
  const auto load_x = [&](int at) {
#pragma unroll
    for (int i = 0; i < (kAhead ? 2 * kM : 0); ++i) next_x[i] = LoadFresh((const uint4*)(x + from_x[i] + at));
  };
  const int first = part * kProductStep, stride = kParts * kProductStep;
  if (first < k) load_w(first);
  for (int at = first + stride; at < k; at += stride)
    if (t == 0)
      for (int j = 0; j < kN; ++j) Prefetch(w + from_w[j] + at);
  AwaitPrevious();
  if (first < k) load_x(first);

  float acc[kM][kN][4];
  float square[2 * kM];
#pragma unroll
  for (int i = 0; i < kM; ++i) {
    square[2 * i] = square[2 * i + 1] = 0.0f;
#pragma unroll
    for (int j = 0; j < kN; ++j) acc[i][j][0] = acc[i][j][1] = acc[i][j][2] = acc[i][j][3] = 0.0f;
  }
#pragma unroll 1
  for (int at = first; at < k; at += stride) {
    uint4 a[2 * kM], b[kN];
#pragma unroll
    for (int i = 0; i < 2 * kM; ++i) a[i] = kAhead ? next_x[kAhead ? i : 0] : LoadFresh((const uint4*)(x + from_x[i] + at));
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      b[j] = next_w[j];
      if (kNorm)
        b[j] = make_uint4(MulPair(b[j].x, scale.x), MulPair(b[j].y, scale.y), MulPair(b[j].z, scale.z),
                          MulPair(b[j].w, scale.w));
    }
    if (at + stride < k) {
      load_w(at + stride);
      load_x(at + stride);
    }
#pragma unroll
    for (int i = 0; i < kM; ++i) {
      const uint4 &top = a[2 * i], &low = a[2 * i + 1];
      if (kNorm) {
        square[2 * i] += SquaresOfEight(top);
        square[2 * i + 1] += SquaresOfEight(low);
      }
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        Mma(acc[i][j], top.x, low.x, top.y, low.y, b[j].x, b[j].y);
        Mma(acc[i][j], top.z, low.z, top.w, low.w, b[j].z, b[j].w);
      }
    }
  }

  if (kNorm) {
#pragma unroll
    for (int i = 0; i < 2 * kM; ++i) {
      float sum = square[i];
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      if (t == 0) squares[warp * 16 * kM + 8 * i + g] = sum;
    }
  }
#pragma unroll
  for (int round = 0; round < kM; round += kRound) {
    if (round > 0) __syncthreads();  // the sums of the round before have been read
#pragma unroll
    for (int i = 0; i < kRound; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          if (round + i >= kM) continue;
          const float* const pair = acc[round + i < kM ? round + i : 0][j] + 2 * half;
          sums[((warp * kRound + i) * kPairs + 2 * j + half) * 32 + lane] = make_float2(pair[0], pair[1]);
        }
    __syncthreads();
#pragma unroll
    for (int mine = 0; mine < kMine; ++mine) {
      const int place = mine * kParts + part;
      const int i = place / kOut, pair = place % kOut;
      if (i >= kRound || round + i >= kM) continue;
      const int in_block = (round + i) * 16 + pair % 2 * 8 + g;
      const int m = row0 + in_block, n = column0 + pair / 2 * 8 + 2 * t;
      if (m >= rows || n >= width) continue;
      float2 sum = make_float2(0.0f, 0.0f), up = sum;
      float squared = 0.0f;
#pragma unroll
      for (int other = group * kParts; other < (group + 1) * kParts; ++other) {
        const float2* const from = sums + ((other * kRound + i) * kPairs + pair) * 32 + lane;
        sum.x += from[0].x;
        sum.y += from[0].y;
        if (kGate) {
          up.x += from[kN * 32].x;
          up.y += from[kN * 32].y;
        }
        if (kNorm) squared += squares[other * 16 * kM + in_block];
      }
      if (kNorm) {
        const float factor = rsqrtf(squared / (float)k + eps);
        sum.x *= factor;
        sum.y *= factor;
        up.x *= factor;
        up.y *= factor;
      }
      if (bias != nullptr) {
        sum.x += Widen(bias[n]);
        sum.y += Widen(bias[n + 1]);
        if (kGate) {
          up.x += Widen(bias[width + n]);
          up.y += Widen(bias[width + n + 1]);
        }
      }
      if (kGate) {
        sum.x = sum.x / (1.0f + expf(-sum.x)) * up.x;
        sum.y = sum.y / (1.0f + expf(-sum.y)) * up.y;
      }
      const long long place_out = (long long)m * width + n;
      if (residual != nullptr) {
        const unsigned before = LoadFreshWord((const unsigned*)(residual + place_out));
        sum.x += Widen((Bf16)(before & 0xffffu));
        sum.y += Widen((Bf16)(before >> 16));
      }
      *(unsigned*)(out + place_out) = (unsigned)Narrow(sum.x) | (unsigned)Narrow(sum.y) << 16;
    }
  }
}

// name: dv_<kind>_<kM>_<kN>_<kGroups>
#define DV_PRODUCT(name, norms, gates, m, n, groups)                                                                  \
  extern "C" __global__ void __launch_bounds__(32 * kProductWarps)                                                   \
      name##_##m##_##n##_##groups(const Bf16* x, const Bf16* norm, float eps, const Bf16* w, const Bf16* bias,       \
                                  const Bf16* residual, Bf16* out, int rows, int width, int k) {                     \
    Product<m, n, groups, norms, gates>(x, norm, eps, w, bias, residual, out, rows, width, k);                       \
  }
DV_PRODUCT(dv_norm_product, true, false, 1, 1, 1)
DV_PRODUCT(dv_norm_product, true, false, 2, 2, 1)
DV_PRODUCT(dv_norm_product, true, false, 4, 2, 1)
DV_PRODUCT(dv_norm_product, true, false, 4, 4, 1)
DV_PRODUCT(dv_norm_product, true, false, 4, 4, 2)
DV_PRODUCT(dv_product, false, false, 1, 1, 1)
DV_PRODUCT(dv_product, false, false, 2, 2, 1)
DV_PRODUCT(dv_product, false, false, 4, 2, 1)
DV_PRODUCT(dv_product, false, false, 4, 4, 1)
DV_PRODUCT(dv_product, false, false, 4, 4, 2)
DV_PRODUCT(dv_gated_product, true, true, 1, 2, 1)
DV_PRODUCT(dv_gated_product, true, true, 2, 4, 1)
DV_PRODUCT(dv_gated_product, true, true, 4, 4, 1)
DV_PRODUCT(dv_gated_product, true, true, 4, 4, 2)
DV_PRODUCT(dv_gated_product, true, true, 4, 8, 1)
DV_PRODUCT(dv_gated_product, true, true, 4, 8, 2)
#undef DV_PRODUCT

// The gate behind a product that took rows of x as they are: out[row][i] = silu(f both[row][i]) * f both[row][width + i],
// f the factor of the RMS norm of that row. Eight elements a thread; 8 `chunks` = width, 8 `x_chunks` values in a row of x.
extern "C" __global__ void __launch_bounds__(256)
    dv_normed_gate(const uint4* both, const uint4* x, int x_chunks, float eps, uint4* out, int chunks) {
  __shared__ float squares[8];
  const long long row = blockIdx.x;
  const int i = blockIdx.y * blockDim.x + threadIdx.x, warps = blockDim.x / 32;
  ReleaseNext();
  AwaitPrevious();
  const int mine = i < chunks ? i : chunks - 1;
  const uint4 gate_words = LoadFresh(both + row * 2 * chunks + mine);
  const uint4 up_words = LoadFresh(both + (row * 2 + 1) * chunks + mine);
  float square = 0.0f;
  for (int c = threadIdx.x; c < x_chunks; c += blockDim.x) square += SquaresOfEight(LoadFresh(x + row * x_chunks + c));
  square = WarpSum(square);
  if (threadIdx.x % 32 == 0) squares[threadIdx.x / 32] = square;
  __syncthreads();
  square = 0.0f;
  for (int w = 0; w < warps; ++w) square += squares[w];
  const float factor = rsqrtf(square / (float)(8 * x_chunks) + eps);
  if (i >= chunks) return;
  float gate[8], up[8];
  WidenEight(gate_words, gate);
  WidenEight(up_words, up);
#pragma unroll
  for (int e = 0; e < 8; ++e) gate[e] = Gate(gate[e] * factor, up[e] * factor);
  out[row * chunks + i] = NarrowEight(gate);
}
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result)
