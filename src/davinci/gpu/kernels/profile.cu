// What honest implementations err by: error profiles, and inputs moved by rounding. Compiled by NVRTC after compare.cu,
// whose types and loads it uses; its rules on order and atomics hold here, too.

// Error profile of an honest implementation, without atomics. Each thread has a column of cells in dynamic shared memory,
// one for each binade from the largest its block saw first downwards and one for zero, and adds to the cell of an element by
// itself. What lies outside these binades goes to a table of its warp. Of very many elements every kRound-th is a sample,
// 32 side by side at places that a hash chooses (the table, not memory, is what takes the time); where an honest value
// contradicts truth about finiteness is looked for in all.
struct ProfileTable {
  double max_err[kNumBuckets];
  double sum_sq_err[kNumBuckets];
  u32 count[kNumBuckets];
  u32 num_special;
  u32 num_dont_care;
};
static_assert(davinci::gpu::kProfileTableBytes == sizeof(ProfileTable));

namespace {

// All 32 lanes call this together. `bucket` < 0: the lane has no sample.
__device__ __forceinline__ void AddSamples(ProfileTable& table, int bucket, double err) {
  const int lane = threadIdx.x & 31;
  u32 pending = __ballot_sync(~0u, bucket >= 0);
  // Lanes of different buckets add at once, those of one bucket one after the other, while they are few.
  constexpr u32 kFew = 4;
  const u32 alike = __match_any_sync(~0u, bucket);
  const u32 turn = bucket < 0 ? kFew : __popc(alike & ((1u << lane) - 1));
  if (__ballot_sync(~0u, bucket >= 0 && turn >= kFew) == 0) {
    for (u32 k = 0; __ballot_sync(~0u, bucket >= 0 && turn >= k) != 0; ++k) {
      if (turn == k) {
        ++table.count[bucket];
        table.sum_sq_err[bucket] += err * err;
        if (err > table.max_err[bucket]) table.max_err[bucket] = err;
      }
      __syncwarp();
    }
    return;
  }
  while (pending != 0) {
    const int leader = __ffs(pending) - 1;
    const int current = __shfl_sync(~0u, bucket, leader);
    const bool mine = bucket == current;
    const u32 members = __ballot_sync(~0u, mine);
    pending &= ~members;
    double sum = mine ? err * err : 0.0;
    double max = mine ? err : 0.0;
    for (int offset = 16; offset > 0; offset >>= 1) {
      sum += __shfl_down_sync(~0u, sum, offset);
      const double other = __shfl_down_sync(~0u, max, offset);
      max = other > max ? other : max;
    }
    if (lane == 0) {
      table.count[current] += __popc(members);
      table.sum_sq_err[current] += sum;
      if (max > table.max_err[current]) table.max_err[current] = max;
    }
  }
}

constexpr int kProfileThreads = kProfileWarps * 32;

// cells * kProfileThreads of each, cell by cell: a thread's column lies in banks of its own.
struct ProfileColumns {
  double* max_err;
  double* sum_sq_err;
  u32* count;
  int cells;
  int first_bucket;  // of cell 0; the last cell is that of zero

  __device__ __forceinline__ int CellOf(int bucket) const {
    if (bucket == kZeroBucket) return cells - 1;
    const int cell = bucket - first_bucket;
    return bucket < 0 || cell < 0 || cell >= cells - 1 ? -1 : cell;
  }
  __device__ __forceinline__ void Add(int cell, double err) {
    const int at = cell * kProfileThreads + (int)threadIdx.x;
    ++count[at];
    sum_sq_err[at] += err * err;
    if (err > max_err[at]) max_err[at] = err;
  }
};

// The bucket of cell 0, from the first element of every thread of the block.
__device__ __forceinline__ int FirstBucket(const double* truth, U64 n, int cells, int* of_warps) {
  const U64 first = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  const double t = first < n ? truth[first] : 0.0;
  const int bucket = IsFinite(t) ? BucketOf(t) : kZeroBucket;
  int top = bucket == kZeroBucket ? -1 : bucket;
  for (int offset = 16; offset > 0; offset >>= 1) {
    const int other = __shfl_down_sync(~0u, top, offset);
    top = other > top ? other : top;
  }
  if ((threadIdx.x & 31) == 0) of_warps[threadIdx.x >> 5] = top;
  __syncthreads();
  for (int w = 0; w < kProfileWarps; ++w) top = of_warps[w] > top || w == 0 ? of_warps[w] : top;
  return top + 3 - cells;  // the one above the largest has a cell, too
}

constexpr int kRound = 8;  // elements of a thread under way at once

template <DType type>
__device__ __forceinline__ void ProfileFloats(const double* truth, const void* honest, U64 n,
                                              const DTypeLimits& limits, bool every, u8* dont_care,
                                              ProfileTable& table, ProfileColumns columns) {
  using Value = typename Stored<type>::Type;
  const Value* const values = (const Value*)honest;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  u32 special = 0;
  u32 skipped = 0;
  // The warp's lanes stay together: the loop is over the warp's first element.
  const U64 lane = threadIdx.x & 31;
  for (U64 base = (U64)blockIdx.x * blockDim.x + threadIdx.x - lane; base < n;
       base += kRound * stride) {
    double t[kRound];
    Value v[kRound];
    static_assert(kRound == 8);
    const int chosen = every ? -1 : (int)((base >> 5) * 0x9E3779B97F4A7C15ull >> 61);
#pragma unroll
    for (int k = 0; k < kRound; ++k) {
      const U64 at = base + k * stride + lane;
      t[k] = at < n ? truth[at] : 0.0;
      v[k] = at < n ? values[at] : Value(0);
    }
#pragma unroll
    for (int k = 0; k < kRound; ++k) {
      const U64 at = base + k * stride + lane;
      int bucket = -1;
      double err = 0;
      const bool sample = every || k == chosen;  // the same for all lanes
      // Finite where truth is: nothing to see but in a sample.
      if (!sample && __all_sync(~0u, at >= n || (IsFinite(t[k]) && IsFinite(Stored<type>::ToDouble(v[k]))))) continue;
      if (at < n) {
        const HonestKind kind = ClassifyHonest(t[k], Stored<type>::ToDouble(v[k]), limits, &err);
        if (kind == HonestKind::kSample) bucket = BucketOf(t[k]);
        special += kind == HonestKind::kSpecial;
        if (kind == HonestKind::kDontCare) {
          ++skipped;
          if (dont_care != nullptr) dont_care[at] = 1;
        }
      }
      if (!sample) continue;
      const int cell = columns.CellOf(bucket);
      if (cell >= 0) columns.Add(cell, err);
      const bool outside = bucket >= 0 && cell < 0;
      if (__any_sync(~0u, outside)) AddSamples(table, outside ? bucket : -1, err);
    }
  }
  special = WarpSum(special);
  skipped = WarpSum(skipped);
  if (lane == 0) {
    table.num_special = special;
    table.num_dont_care = skipped;
  }
}

// Adds the cells of all columns to the tables, each to that of one warp.
__device__ __forceinline__ void FoldColumns(const ProfileColumns& columns, ProfileTable* tables) {
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  __syncthreads();
  for (int cell = warp; cell < columns.cells; cell += kProfileWarps) {
    u32 count = 0;
    double sum = 0;
    double max = 0;
    for (int t = lane; t < kProfileThreads; t += 32) {
      const int at = cell * kProfileThreads + t;
      count += columns.count[at];
      sum += columns.sum_sq_err[at];
      max = columns.max_err[at] > max ? columns.max_err[at] : max;
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
      count += __shfl_down_sync(~0u, count, offset);
      sum += __shfl_down_sync(~0u, sum, offset);
      const double other = __shfl_down_sync(~0u, max, offset);
      max = other > max ? other : max;
    }
    if (lane != 0 || count == 0) continue;
    ProfileTable& table = tables[warp];
    const int bucket = cell == columns.cells - 1 ? kZeroBucket : columns.first_bucket + cell;
    table.count[bucket] += count;
    table.sum_sq_err[bucket] += sum;
    if (max > table.max_err[bucket]) table.max_err[bucket] = max;
  }
  __syncthreads();
}

}  // namespace

// every: 0 if every kRound-th element will do. partials: one ErrorProfile per block, overwritten. Dynamic shared memory:
// kProfileWarps tables and `cells` cells for each thread.
extern "C" __global__ void __launch_bounds__(kProfileThreads)
    dv_profile(const double* truth, const void* honest, int honest_type, int output_type, U64 n,
               int every, u8* dont_care, int cells, ErrorProfile* partials) {
  extern __shared__ ProfileTable tables[];
  __shared__ int of_warps[kProfileWarps];
  ProfileTable& table = tables[threadIdx.x >> 5];
  const int lane = threadIdx.x & 31;
  for (int b = lane; b < kNumBuckets; b += 32) {
    table.max_err[b] = 0;
    table.sum_sq_err[b] = 0;
    table.count[b] = 0;
  }
  double* const memory = (double*)(tables + kProfileWarps);
  const int in_columns = cells * kProfileThreads;
  ProfileColumns columns = {memory, memory + in_columns, (u32*)(memory + 2 * in_columns), cells, 0};
  for (int at = threadIdx.x; at < in_columns; at += kProfileThreads) {
    columns.max_err[at] = 0;
    columns.sum_sq_err[at] = 0;
    columns.count[at] = 0;
  }
  columns.first_bucket = FirstBucket(truth, n, cells, of_warps);
  const DTypeLimits limits = LimitsOf((DType)output_type);
  switch ((DType)honest_type) {
    case DType::kF16: ProfileFloats<DType::kF16>(truth, honest, n, limits, every != 0, dont_care, table, columns); break;
    case DType::kBf16: ProfileFloats<DType::kBf16>(truth, honest, n, limits, every != 0, dont_care, table, columns); break;
    case DType::kF32: ProfileFloats<DType::kF32>(truth, honest, n, limits, every != 0, dont_care, table, columns); break;
    case DType::kF64: ProfileFloats<DType::kF64>(truth, honest, n, limits, every != 0, dont_care, table, columns); break;
    default: break;
  }
  FoldColumns(columns, tables);
  ErrorProfile* const out = partials + blockIdx.x;
  for (int b = threadIdx.x; b < kNumBuckets; b += blockDim.x) {
    U64 count = 0;
    double max = 0;
    double sum = 0;
    for (int w = 0; w < kProfileWarps; ++w) {
      count += tables[w].count[b];
      sum += tables[w].sum_sq_err[b];
      max = tables[w].max_err[b] > max ? tables[w].max_err[b] : max;
    }
    out->count[b] = count;
    out->max_err[b] = max;
    out->sum_sq_err[b] = sum;
  }
  if (threadIdx.x == 0) {
    U64 special = 0;
    U64 skipped = 0;
    for (int w = 0; w < kProfileWarps; ++w) {
      special += tables[w].num_special;
      skipped += tables[w].num_dont_care;
    }
    out->num_special = special;
    out->num_dont_care = skipped;
  }
}

// What rounding alone can do to inputs: out[i] = in[i] moved by up to eps / 2 of it, in fp64. Infinities stay, and
// whole numbers in single and double precision: ids and levels, which a reference may truncate.
template <DType type>
__device__ __forceinline__ void NudgeFloats(const void* in, U64 n, double eps, U64 key, double* out) {
  const auto* const values = (const typename Stored<type>::Type*)in;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  for (U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const double x = Stored<type>::ToDouble(values[i]);
    const double share = (double)(davinci::gpu::keyed::WordAt(key, i) >> 11) * 0x1p-53 - 0.5;
    const bool stays = !IsFinite(x) || ((type == DType::kF32 || type == DType::kF64) && rint(x) == x);
    out[i] = stays ? x : x + x * (eps * share);
  }
}

extern "C" __global__ void __launch_bounds__(512)
    dv_nudge(const void* in, int type, U64 n, double eps, U64 key, double* out) {
  switch ((DType)type) {
    case DType::kF16: return NudgeFloats<DType::kF16>(in, n, eps, key, out);
    case DType::kBf16: return NudgeFloats<DType::kBf16>(in, n, eps, key, out);
    case DType::kF32: return NudgeFloats<DType::kF32>(in, n, eps, key, out);
    case DType::kF64: return NudgeFloats<DType::kF64>(in, n, eps, key, out);
    default: return;
  }
}

// One block of at least kNumBuckets threads: *profile += sum of the partials.
extern "C" __global__ void dv_profile_finish(const ErrorProfile* partials, int num_partials,
                                             ErrorProfile* profile) {
  for (int b = threadIdx.x; b < kNumBuckets; b += blockDim.x) {
    u64 count = profile->count[b];
    double max = profile->max_err[b];
    double sum = profile->sum_sq_err[b];
    for (int p = 0; p < num_partials; ++p) {
      count += partials[p].count[b];
      sum += partials[p].sum_sq_err[b];
      max = partials[p].max_err[b] > max ? partials[p].max_err[b] : max;
    }
    profile->count[b] = count;
    profile->max_err[b] = max;
    profile->sum_sq_err[b] = sum;
  }
  if (threadIdx.x == 0) {
    for (int p = 0; p < num_partials; ++p) {
      profile->num_special += partials[p].num_special;
      profile->num_dont_care += partials[p].num_dont_care;
    }
  }
}
