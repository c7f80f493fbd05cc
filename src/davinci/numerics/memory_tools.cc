#include "davinci/numerics/memory_tools.h"

#include <algorithm>
#include <cstring>

#include "davinci/numerics/element_rules.h"
#include "davinci/numerics/parallel_blocks.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace davinci::numerics {
namespace {

uint64_t Word(const unsigned char* p) {
  uint64_t word = 0;
  std::memcpy(&word, p, sizeof(word));
  return word;
}

// Units [begin, end) that lie entirely within the data; four sums, so that the multiplications
// overlap.
uint64_t SumUnits(const unsigned char* data, int64_t begin, int64_t end, const ChecksumKey& key) {
  uint64_t sums[4] = {};
  int64_t unit = begin;
  for (; unit + 4 <= end; unit += 4) {
    const unsigned char* p = data + unit * 16;
    for (int64_t lane = 0; lane < 4; ++lane)
      sums[lane] += ChecksumUnit(Word(p + 16 * lane), Word(p + 16 * lane + 8),
                                 static_cast<u64>(unit) + static_cast<u64>(lane), key);
  }
  for (; unit < end; ++unit)
    sums[0] += ChecksumUnit(Word(data + unit * 16), Word(data + unit * 16 + 8),
                            static_cast<u64>(unit), key);
  return sums[0] + sums[1] + sums[2] + sums[3];
}

constexpr int64_t kMinBytesPerBlock = 1 << 20;

enum class FlushKind { kNone, kClflush, kClflushopt, kDcCivac };

FlushKind ProbeFlush() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 23))) return FlushKind::kClflushopt;
  if (__get_cpuid(1, &a, &b, &c, &d) && (d & (1u << 19))) return FlushKind::kClflush;
  return FlushKind::kNone;
#elif defined(__aarch64__) && defined(__linux__)
  return FlushKind::kDcCivac;  // Linux lets user space maintain its own lines
#else
  return FlushKind::kNone;
#endif
}

FlushKind Flush() {
  static const FlushKind kind = ProbeFlush();
  return kind;
}

size_t LineBytes() {
#if defined(__aarch64__)
  uint64_t ctr = 0;
  asm volatile("mrs %0, ctr_el0" : "=r"(ctr));
  return size_t{4} << ((ctr >> 16) & 0xf);
#else
  return 64;
#endif
}

#if defined(__x86_64__) || defined(__i386__)
__attribute__((target("clflushopt"))) void FlushOptimised(uintptr_t begin, uintptr_t end,
                                                          size_t step) {
  for (uintptr_t p = begin; p < end; p += step)
    _mm_clflushopt(reinterpret_cast<void*>(p));  // NOLINT
}
#endif

}  // namespace

uint64_t KeyedChecksum(const void* data, size_t num_bytes, uint64_t key, int num_threads) {
  const ChecksumKey expanded = ExpandChecksumKey(key);
  const auto* bytes = static_cast<const unsigned char*>(data);
  const auto num_units = static_cast<int64_t>(num_bytes / 16);
  std::atomic<uint64_t> sum{0};
  ForEachBlock(PlanBlocks(num_units, 1 << 16), num_threads, [&](int, int64_t begin, int64_t end) {
    sum += SumUnits(bytes, begin, end, expanded);
  });
  const size_t tail = num_bytes % 16;
  if (tail > 0) {
    unsigned char padded[16] = {};
    std::memcpy(padded, bytes + num_units * 16, tail);
    sum += ChecksumUnit(Word(padded), Word(padded + 8), static_cast<u64>(num_units), expanded);
  }
  return FinishChecksum(sum.load(), num_bytes, expanded);
}

void CopyBytes(void* target, const void* source, size_t num_bytes, int num_threads) {
  const BlockPlan plan = PlanBlocks(static_cast<int64_t>(num_bytes), kMinBytesPerBlock);
  ForEachBlock(plan, num_threads, [&](int, int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(target) + begin, static_cast<const char*>(source) + begin,
                static_cast<size_t>(end - begin));
  });
}

bool SameBytes(const void* left, const void* right, size_t num_bytes, int num_threads) {
  const BlockPlan plan = PlanBlocks(static_cast<int64_t>(num_bytes), kMinBytesPerBlock);
  std::atomic<bool> same{true};
  ForEachBlock(plan, num_threads, [&](int, int64_t begin, int64_t end) {
    if (same &&
        std::memcmp(static_cast<const char*>(left) + begin, static_cast<const char*>(right) + begin,
                    static_cast<size_t>(end - begin)) != 0)
      same = false;
  });
  return same;
}

bool FlushCacheLines(const void* data, size_t num_bytes) {
  if (Flush() == FlushKind::kNone) return false;
  if (num_bytes == 0) return true;
  const size_t step = LineBytes();
  const uintptr_t begin = reinterpret_cast<uintptr_t>(data) & ~(uintptr_t{step} - 1);
  const uintptr_t end = reinterpret_cast<uintptr_t>(data) + num_bytes;
#if defined(__x86_64__) || defined(__i386__)
  _mm_mfence();  // stores still in flight must reach the lines first
  if (Flush() == FlushKind::kClflushopt) {
    FlushOptimised(begin, end, step);
  } else {
    for (uintptr_t p = begin; p < end; p += step)
      _mm_clflush(reinterpret_cast<void*>(p));  // NOLINT
  }
  _mm_mfence();
#elif defined(__aarch64__)
  for (uintptr_t p = begin; p < end; p += step) asm volatile("dc civac, %0" ::"r"(p) : "memory");
  asm volatile("dsb ish" ::: "memory");
#endif
  return true;
}

const char* FlushInstructionName() {
  switch (Flush()) {
    case FlushKind::kNone:
      return "none";
    case FlushKind::kClflush:
      return "clflush";
    case FlushKind::kClflushopt:
      return "clflushopt";
    case FlushKind::kDcCivac:
      return "dc civac";
  }
  return "none";
}

}  // namespace davinci::numerics
