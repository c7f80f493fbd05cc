#include "davinci/judge/draw/keyed_fill.h"

#include <algorithm>
#include <thread>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DAVINCI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DAVINCI_CLONES
#endif

namespace davinci::judge {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMul0 = 0xD2511F53;
constexpr uint32_t kMul1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

constexpr int kBlocks = 128;            // Philox blocks computed side by side
constexpr size_t kBatch = 4 * kBlocks;  // elements per batch

// Words w of blocks first .. first + kBlocks - 1, as words[w * kBlocks + b].
DAVINCI_CLONES void Batch(uint64_t first, uint64_t key, uint32_t* words) {
  uint32_t* c0 = words;
  uint32_t* c1 = words + kBlocks;
  uint32_t* c2 = words + 2 * kBlocks;
  uint32_t* c3 = words + 3 * kBlocks;
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

}  // namespace

void FillUniform(float* out, size_t n, uint64_t key, int num_threads) {
  const size_t batches = (n + kBatch - 1) / kBatch;
  auto work = [&](size_t from, size_t to) {
    alignas(64) uint32_t words[kBatch];
    alignas(64) float values[kBatch];
    for (size_t batch = from; batch < to; ++batch) {
      Batch(batch * kBlocks, key, words);
      ToUniform(words, values);
      const size_t start = batch * kBatch;
      std::copy_n(values, std::min(kBatch, n - start), out + start);
    }
  };
  const size_t threads =
      std::clamp<size_t>(batches / 256, 1, static_cast<size_t>(std::max(1, num_threads)));
  std::vector<std::jthread> pool;
  for (size_t t = 1; t < threads; ++t)
    pool.emplace_back(work, batches * t / threads, batches * (t + 1) / threads);
  work(0, batches / threads);
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

}  // namespace davinci::judge

extern "C" void dv_fill_uniform(float* out, size_t n, uint64_t key, int num_threads) {
  davinci::judge::FillUniform(out, n, key, num_threads);
}
