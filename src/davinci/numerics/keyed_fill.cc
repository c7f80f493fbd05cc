#include "davinci/numerics/keyed_fill.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <thread>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DAVINCI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DAVINCI_CLONES
#endif

namespace davinci::numerics {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMul0 = 0xD2511F53;
constexpr uint32_t kMul1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

constexpr int kBlocks = 128;                    // Philox blocks computed side by side
constexpr size_t kBatch = size_t{4} * kBlocks;  // elements per batch

// Words w of blocks first .. first + kBlocks - 1, as words[w * kBlocks + b].
DAVINCI_CLONES void Batch(uint64_t first, uint64_t key, uint32_t* words) {
  uint32_t* c0 = words;
  uint32_t* c1 = words + kBlocks;
  uint32_t* c2 = words + size_t{2} * kBlocks;
  uint32_t* c3 = words + size_t{3} * kBlocks;
  for (int b = 0; b < kBlocks; ++b) {
    const uint64_t counter = first + static_cast<uint64_t>(b);
    c0[b] = static_cast<uint32_t>(counter);
    c1[b] = static_cast<uint32_t>(counter >> 32);
    c2[b] = 0;
    c3[b] = 0;
  }
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    for (int b = 0; b < kBlocks; ++b) {
      const uint64_t p0 = uint64_t{kMul0} * c0[b];
      const uint64_t p1 = uint64_t{kMul1} * c2[b];
      const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1[b] ^ k0;
      const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3[b] ^ k1;
      c1[b] = static_cast<uint32_t>(p1);
      c3[b] = static_cast<uint32_t>(p0);
      c0[b] = n0;
      c2[b] = n2;
    }
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
}

DAVINCI_CLONES void ToUniform(const uint32_t* words, float* out) {
  for (size_t i = 0; i < kBatch; ++i)
    out[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1.0p-24f;
}

// log(x) of a normal x; polynomial of Cephes' logf, about an ulp.
inline float Log(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  const int32_t exponent = (bits - 0x3f3504f3) >> 23;  // mantissa in [sqrt(1/2), sqrt(2))
  const float m = std::bit_cast<float>(bits - (exponent << 23)) - 1.0f;
  const float e = static_cast<float>(exponent);
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float square = m * m;
  return m + (m * square * p - 2.12194440e-4f * e - 0.5f * square) + 0.693359375f * e;
}

// Radius from one word, angle from another. All 32 bits count in the radius: its tail is the
// distribution's.
DAVINCI_CLONES void ToNormal(const uint32_t* radii, const uint32_t* angles, float* first,
                             float* second) {
  for (int b = 0; b < kBlocks; ++b) {
    // Signed conversions only, which every vector unit has: the upper and the lower half, exactly.
    const auto high = static_cast<float>(static_cast<int32_t>(radii[b] >> 16));
    const auto low = static_cast<float>(static_cast<int32_t>(radii[b] & 0xffffu));
    const float uniform = (high * 65536.0f + (low + 0.5f)) * 0x1.0p-32f;  // (0, 1]
    const float log = Log(uniform);
    const float radius = std::sqrt(-2.0f * (log < 0.0f ? log : 0.0f));

    // The nearest quarter turn and what is left: |rest| <= pi/4.
    const auto turn = static_cast<int32_t>(angles[b]);
    const int32_t quarter = (turn >> 30) + ((turn >> 29) & 1);
    const auto left = static_cast<int32_t>(angles[b] - (static_cast<uint32_t>(quarter) << 30));
    const float x = static_cast<float>(left) * 0x1.921fb6p-30f;  // 2 pi / 2^32
    const float z = x * x;
    const float sine =
        ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * x + x;
    const float cosine =
        ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z -
        0.5f * z + 1.0f;
    const bool swapped = (quarter & 1) != 0;
    const float c = swapped ? sine : cosine;
    const float s = swapped ? cosine : sine;
    first[b] = radius * (((quarter + 1) & 2) != 0 ? -c : c);
    second[b] = radius * ((quarter & 2) != 0 ? -s : s);
  }
}

void ToNormals(const uint32_t* words, float* out) {
  for (size_t half = 0; half < 2; ++half)
    ToNormal(words + 2 * half * kBlocks, words + (2 * half + 1) * kBlocks, out + 2 * half * kBlocks,
             out + (2 * half + 1) * kBlocks);
}

// `moved` = `values`, each by up to half of `eps` of itself, but for whole numbers, infinity among
// them, which infinity times a negative number would not be.
DAVINCI_CLONES void Nudge(const float* values, const float* uniform, double eps, double* moved) {
  for (size_t i = 0; i < kBatch; ++i) {
    const double value = values[i];
    const double other = value + eps * value * static_cast<double>(uniform[i] - 0.5f);
    moved[i] = __builtin_rint(value) == value ? value : other;
  }
}

// `use`(words, first element, number of elements) for each batch.
template <typename Use>
void EachBatch(size_t n, uint64_t key, int num_threads, const Use& use) {
  const size_t batches = (n + kBatch - 1) / kBatch;
  auto work = [&](size_t from, size_t to) {
    alignas(64) uint32_t words[kBatch];
    for (size_t batch = from; batch < to; ++batch) {
      Batch(batch * kBlocks, key, words);
      const size_t start = batch * kBatch;
      use(words, start, std::min(kBatch, n - start));
    }
  };
  const size_t threads =
      std::clamp<size_t>(batches / 256, 1, static_cast<size_t>(std::max(1, num_threads)));
  std::vector<std::jthread> pool;
  for (size_t t = 1; t < threads; ++t)
    pool.emplace_back(work, batches * t / threads, batches * (t + 1) / threads);
  work(0, batches / threads);
}

using Transform = void (*)(const uint32_t* words, float* out);

void Fill(float* out, size_t n, uint64_t key, int num_threads, Transform transform) {
  EachBatch(n, key, num_threads, [&](const uint32_t* words, size_t start, size_t count) {
    alignas(64) float values[kBatch];
    transform(words, values);
    std::copy_n(values, count, out + start);
  });
}

}  // namespace

void FillUniform(float* out, size_t n, uint64_t key, int num_threads) {
  Fill(out, n, key, num_threads, [](const uint32_t* w, float* values) { ToUniform(w, values); });
}

void FillNormal(float* out, size_t n, uint64_t key, int num_threads) {
  Fill(out, n, key, num_threads, [](const uint32_t* w, float* values) { ToNormals(w, values); });
}

void NudgeFloats(const float* from, size_t n, double eps, uint64_t key, double* to,
                 int num_threads) {
  EachBatch(n, key, num_threads, [&](const uint32_t* words, size_t start, size_t count) {
    alignas(64) float uniform[kBatch];
    ToUniform(words, uniform);
    if (count == kBatch) {
      Nudge(from + start, uniform, eps, to + start);
      return;
    }
    float values[kBatch] = {};
    double moved[kBatch];
    std::copy_n(from + start, count, values);
    Nudge(values, uniform, eps, moved);
    std::copy_n(moved, count, to + start);
  });
}

void PhiloxBlock(uint64_t counter_low, uint64_t counter_high, uint64_t key, uint32_t out[4]) {
  uint32_t c[4] = {static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
                   static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  auto k0 = static_cast<uint32_t>(key);
  auto k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t p0 = uint64_t{kMul0} * c[0];
    const uint64_t p1 = uint64_t{kMul1} * c[2];
    const uint32_t next[4] = {
        static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
        static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    std::copy_n(next, 4, c);
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  std::copy_n(c, 4, out);
}

}  // namespace davinci::numerics

extern "C" void dv_fill_uniform(float* out, size_t n, uint64_t key, int num_threads) {
  davinci::numerics::FillUniform(out, n, key, num_threads);
}

extern "C" void dv_fill_normal(float* out, size_t n, uint64_t key, int num_threads) {
  davinci::numerics::FillNormal(out, n, key, num_threads);
}

extern "C" void dv_nudge_floats(const float* from, size_t n, double eps, uint64_t key, double* to,
                                int num_threads) {
  davinci::numerics::NudgeFloats(from, n, eps, key, to, num_threads);
}
