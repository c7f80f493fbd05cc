// CUDA kernels on the host, for tests: every thread of a block is a context, barriers and shuffles
// included. Define nothing; include kernels/*.cu behind this, with `using namespace host_threads`,
// and undefine __shared__ behind them.
#pragma once

#include <ucontext.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier): CUDA gives these names
namespace davinci::model::host_threads {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
inline Index threadIdx;
inline Index blockIdx;
inline Index blockDim;
inline Index gridDim;

struct uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
struct float2 {
  float x, y;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float rsqrtf(float value) { return 1.0F / std::sqrt(value); }

// The threads of a block take turns on this one: a barrier hands over until all have arrived.
struct Block {
  std::vector<ucontext_t> contexts;
  std::vector<std::vector<char>> stacks;
  std::vector<std::uint32_t> slots;                    // of the shuffles
  std::vector<std::array<std::uint32_t, 6>> operands;  // of the matrix instruction
  std::vector<bool> done;
  ucontext_t scheduler;
  const std::function<void()>* kernel = nullptr;
  unsigned arrived = 0;
  unsigned generation = 0;
};
inline Block block;

inline void HandOver() { swapcontext(&block.contexts[threadIdx.x], &block.scheduler); }
inline void __syncthreads() {
  const unsigned generation = block.generation;
  if (++block.arrived == blockDim.x) {
    block.arrived = 0;
    ++block.generation;
  }
  while (block.generation == generation) HandOver();
}
// All lanes of a warp take the same steps, so that one round of turns is a barrier among them.
template <typename T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  block.slots[threadIdx.x] = std::bit_cast<std::uint32_t>(value);
  HandOver();
  const T other = std::bit_cast<T>(block.slots[threadIdx.x ^ static_cast<unsigned>(mask)]);
  HandOver();
  return other;
}

// kernels/common_instructions.cu. One kernel runs at a time.
inline void AwaitPrevious() {}
inline void ReleaseNext() {}
inline uint4 LoadFresh(const uint4* from) { return *from; }
inline unsigned LoadFreshWord(const unsigned* from) { return *from; }
inline void Prefetch(const void*) {}
inline float PowerOfTwo(float exponent) { return std::exp2(exponent); }

inline unsigned Transpose(unsigned pair) {
  block.slots[threadIdx.x] = pair;
  HandOver();
  const unsigned warp = threadIdx.x / 32 * 32;
  const unsigned lane = threadIdx.x % 32;
  unsigned out = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned row = lane % 4 * 2 + i;
    const unsigned column = lane / 4;
    out |= (block.slots[warp + row * 4 + column / 2] >> column % 2 * 16 & 0xffffU) << i * 16;
  }
  HandOver();
  return out;
}

// mma.m16n8k16 of bf16 with fp32 sums; which lane holds what is PTX's.
inline void Mma(float* c, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                unsigned b1) {
  block.operands[threadIdx.x] = {a0, a1, a2, a3, b0, b1};
  HandOver();
  const unsigned warp = threadIdx.x / 32 * 32;
  const unsigned lane = threadIdx.x % 32;
  const auto element = [](unsigned word, unsigned k) {
    return std::bit_cast<float>(k % 2 == 0 ? word << 16 : word & 0xffff0000U);
  };
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8;
    const unsigned column = lane % 4 * 2 + i % 2;
    for (unsigned k = 0; k < 16; ++k) {
      const auto& a = block.operands[warp + row % 8 * 4 + k % 8 / 2];
      const auto& b = block.operands[warp + column * 4 + k % 8 / 2];
      c[i] += element(a[row / 8 + k / 8 * 2], k) * element(b[4 + k / 8], k);
    }
  }
  HandOver();
}

inline void RunThread() {
  (*block.kernel)();
  block.done[threadIdx.x] = true;
}

// In a function of its own: getcontext() may return twice, and no variable is live here then.
inline void Prepare(ucontext_t* context, std::vector<char>* stack) {
  getcontext(context);
  context->uc_stack.ss_sp = stack->data();
  context->uc_stack.ss_size = stack->size();
  context->uc_link = &block.scheduler;
  makecontext(context, RunThread, 0);
}

inline void Launch(Index grid, unsigned threads, const std::function<void()>& kernel) {
  blockDim = {threads, 1, 1};
  gridDim = grid;
  block.kernel = &kernel;
  block.contexts.resize(threads);
  block.stacks.resize(threads, std::vector<char>(size_t{64} << 10));
  block.slots.resize(threads);
  block.operands.resize(threads);
  for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
      block.done.assign(threads, false);
      for (unsigned t = 0; t < threads; ++t) Prepare(&block.contexts[t], &block.stacks[t]);
      for (bool running = true; running;) {
        running = false;
        for (unsigned t = 0; t < threads; ++t) {
          if (block.done[t]) continue;
          running = true;
          threadIdx = {t, 0, 0};
          swapcontext(&block.scheduler, &block.contexts[t]);
        }
      }
    }
}

}  // namespace davinci::model::host_threads

#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(threads)
// NOLINTEND(bugprone-reserved-identifier)
