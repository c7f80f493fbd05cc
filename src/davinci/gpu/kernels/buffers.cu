// Kernels over raw buffers: fill, poison, checksum, sample. Compiled by NVRTC after kernels/keyed.h; launched by
// kernel_library.cc, which is where the parameters are documented.

using namespace davinci::gpu::keyed;

// 16-byte words of keyed noise. One mixed word makes both halves: incompressible is all that is needed.
extern "C" __global__ void __launch_bounds__(512) dv_fill_random(ulonglong2* out, U64 words, U64 key) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  for (U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
    const U64 a = WordAt(key, i);
    out[i] = make_ulonglong2(a, (a << 23 | a >> 41) * 0xd6e8feb86659fd93ULL);
  }
}

// Reads a buffer so that it, and nothing else, is what the L2 holds afterwards. The store never happens; it keeps the
// loads alive.
extern "C" __global__ void __launch_bounds__(512) dv_touch(const ulonglong2* in, U64 words, U64* sink) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  U64 sum = 0;
  for (U64 i = (U64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
    const ulonglong2 v = in[i];
    sum += v.x ^ v.y;
  }
  if (sum == 0x5bd1e995ULL && words == ~0ULL) *sink = sum;
}

// The buffer starts at `out`, 8-byte aligned when `aligned`; `groups` whole 8-byte groups, then single elements.
template <int kind>
__device__ __forceinline__ void Poison(unsigned char* out, U64 count, U64 key, int aligned) {
  const int bytes = PoisonBytes(kind);
  const U64 per_group = 8 / bytes;
  const U64 thread = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  const U64 pairs = aligned ? count / (2 * per_group) : 0;
  ulonglong2* const body = (ulonglong2*)out;
  for (U64 i = thread; i < pairs; i += stride) {
    body[i] = make_ulonglong2(PoisonGroup(kind, key, 2 * i), PoisonGroup(kind, key, 2 * i + 1));
  }
  for (U64 i = pairs * 2 * per_group + thread; i < count; i += stride) {
    const U64 bits = PoisonAt(kind, key, i);
    if (bytes == 1) out[i] = (unsigned char)bits;
    if (bytes == 2) ((unsigned short*)out)[i] = (unsigned short)bits;
    if (bytes == 4) ((U32*)out)[i] = (U32)bits;
    if (bytes == 8) ((U64*)out)[i] = bits;
  }
}

extern "C" __global__ void __launch_bounds__(512)
    dv_poison(unsigned char* out, U64 count, int kind, U64 key, int aligned) {
  switch (kind) {
    case kPoisonFloat16: return Poison<kPoisonFloat16>(out, count, key, aligned);
    case kPoisonBfloat16: return Poison<kPoisonBfloat16>(out, count, key, aligned);
    case kPoisonFloat32: return Poison<kPoisonFloat32>(out, count, key, aligned);
    case kPoisonFloat64: return Poison<kPoisonFloat64>(out, count, key, aligned);
    case kPoisonBits8: return Poison<kPoisonBits8>(out, count, key, aligned);
    case kPoisonBits16: return Poison<kPoisonBits16>(out, count, key, aligned);
    case kPoisonBits32: return Poison<kPoisonBits32>(out, count, key, aligned);
    case kPoisonBits64: return Poison<kPoisonBits64>(out, count, key, aligned);
    case kPoisonBool: return Poison<kPoisonBool>(out, count, key, aligned);
  }
}

__device__ __forceinline__ U64 LoadElement(const unsigned char* data, U64 index, int bytes) {
  if (bytes == 1) return data[index];
  if (bytes == 2) return ((const unsigned short*)data)[index];
  if (bytes == 4) return ((const U32*)data)[index];
  return ((const U64*)data)[index];
}

// result[0] += elements that still hold their pattern; result[1] = min of their indices (start it at ~0).
extern "C" __global__ void __launch_bounds__(512)
    dv_poison_count(const unsigned char* data, U64 count, int kind, U64 key, int aligned,
                    U64* result) {
  const int bytes = PoisonBytes(kind);
  const U64 per_group = 8 / bytes;
  const U64 thread = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  const U64 groups = aligned ? count / per_group : 0;
  U64 found = 0;
  U64 first = ~0ULL;
  const auto visit = [&](U64 index, U64 bits) {
    if (bits != PoisonAt(kind, key, index)) return;
    ++found;
    if (index < first) first = index;
  };
  for (U64 g = thread; g < groups; g += stride) {
    const U64 word = ((const U64*)data)[g];
    // Equality of any lane needs the full pattern; one exclusive-or finds out for all lanes.
    const U64 difference = word ^ PoisonGroup(kind, key, g);
    if (bytes == 8) {
      if (difference == 0) visit(g, word);
      continue;
    }
    const int bits = bytes * 8;
    const U64 mask = (1ULL << bits) - 1;
    for (int lane = 0; lane < (int)per_group; ++lane) {
      if (((difference >> (lane * bits)) & mask) == 0) {
        visit(g * per_group + lane, (word >> (lane * bits)) & mask);
      }
    }
  }
  for (U64 i = groups * per_group + thread; i < count; i += stride) {
    visit(i, LoadElement(data, i, bytes));
  }
  for (int offset = 16; offset > 0; offset >>= 1) {
    found += __shfl_down_sync(~0u, found, offset);
    const U64 other = __shfl_down_sync(~0u, first, offset);
    first = other < first ? other : first;
  }
  if ((threadIdx.x & 31) == 0 && found != 0) {
    atomicAdd(&result[0], found);
    atomicMin(&result[1], first);
  }
}

// result[0] += the unfinished checksum of element_rules.h. `aligned`: data is 16-byte aligned.
extern "C" __global__ void __launch_bounds__(512)
    dv_checksum(const unsigned char* data, U64 num_bytes, U64 key_word, int aligned, U64* result) {
  const davinci::numerics::ChecksumKey key = davinci::numerics::ExpandChecksumKey(key_word);
  const U64 thread = (U64)blockIdx.x * blockDim.x + threadIdx.x;
  const U64 stride = (U64)gridDim.x * blockDim.x;
  const U64 whole = aligned ? num_bytes / 16 : 0;
  const ulonglong2* const body = (const ulonglong2*)data;
  U64 sum = 0;
  U64 i = thread;
  // Four loads in flight per thread: memory latency, not arithmetic, is what limits one load at a time.
  for (; i + 3 * stride < whole; i += 4 * stride) {
    ulonglong2 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = body[i + k * stride];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      sum += davinci::numerics::ChecksumUnit(v[k].x, v[k].y, i + k * stride, key);
    }
  }
  for (; i < whole; i += stride) {
    const ulonglong2 v = body[i];
    sum += davinci::numerics::ChecksumUnit(v.x, v.y, i, key);
  }
  // The last unit, padded with zeros; or all of them when the buffer starts at an odd address.
  const U64 units = (num_bytes + 15) / 16;
  for (U64 unit = whole + thread; unit < units; unit += stride) {
    U64 words[2] = {0, 0};
    for (int b = 0; b < 16; ++b) {
      const U64 at = unit * 16 + b;
      if (at < num_bytes) words[b >> 3] |= (U64)data[at] << (8 * (b & 7));
    }
    sum += davinci::numerics::ChecksumUnit(words[0], words[1], unit, key);
  }
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
  __shared__ U64 partial[16];
  if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    U64 total = 0;
    for (int w = 0; w < (int)(blockDim.x >> 5); ++w) total += partial[w];
    atomicAdd(result, total);
  }
}

// One thread: turns the sum into the checksum.
extern "C" __global__ void dv_checksum_finish(U64* result, U64 num_bytes, U64 key_word) {
  *result = davinci::numerics::FinishChecksum(*result, num_bytes,
                                           davinci::numerics::ExpandChecksumKey(key_word));
}

// out[j] = bits of element SamplePosition(key, j, count), zero-extended.
extern "C" __global__ void __launch_bounds__(256)
    dv_sample(const unsigned char* data, U64 count, int bytes, U64 key, U64 samples, U64* out) {
  const U64 stride = (U64)gridDim.x * blockDim.x;
  for (U64 j = (U64)blockIdx.x * blockDim.x + threadIdx.x; j < samples; j += stride) {
    out[j] = LoadElement(data, SamplePosition(key, j, count), bytes);
  }
}
