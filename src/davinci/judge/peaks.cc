#include "davinci/judge/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "davinci/base/clock.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kProbeSeconds = 0.035;  // for each of the three rates
constexpr size_t kReadBytes =
    size_t{2} << 20;  // beyond a private cache of ordinary size, well inside a shared one
constexpr size_t kWriteBytes = size_t{16} << 10;
constexpr int kNumAccumulators = 12;
constexpr int kFmaRounds = 2000;

// One probe body for every vector width; sanitizers would slow it down and so turn a bound into a
// lie.
#define DV_PROBE __attribute__((no_sanitize("address", "thread", "undefined")))

template <typename Vector>
__attribute__((always_inline)) inline float ReadBody(const char* data, size_t bytes) {
  Vector sum[4] = {};
  const auto* v = reinterpret_cast<const Vector*>(data);
  for (size_t i = 0; i + 4 <= bytes / sizeof(Vector); i += 4)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) sum[k] += v[i + static_cast<size_t>(k)];
  const Vector all = sum[0] + sum[1] + sum[2] + sum[3];
  return all[0];
}

template <typename Vector>
__attribute__((always_inline)) inline void WriteBody(char* data, size_t bytes, float value) {
  Vector filled = {};
  filled = filled + value;
  auto* v = reinterpret_cast<Vector*>(data);
  for (size_t i = 0; i + 4 <= bytes / sizeof(Vector); i += 4)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) v[i + static_cast<size_t>(k)] = filled;
  // Keeps the compiler from dropping stores that are never read.
  asm volatile("" : : "r"(data) : "memory");
}

template <typename Vector>
__attribute__((always_inline)) inline float FmaBody(int rounds, float scale) {
  Vector acc[kNumAccumulators] = {};
  Vector factor = {};
  factor = factor + scale;
  // All different: equal ones would be computed once.
#pragma GCC unroll 12
  for (int k = 0; k < kNumAccumulators; ++k) acc[k] = acc[k] + static_cast<float>(k);
  for (int r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int k = 0; k < kNumAccumulators; ++k) acc[k] = acc[k] * factor + factor;
  Vector all = acc[0];
#pragma GCC unroll 12
  for (int k = 1; k < kNumAccumulators; ++k) all = all + acc[k];
  return all[0];
}

// One instance per instruction set, chosen when it runs: the build names no processor.
struct Probe {
  int lanes;
  float (*read)(const char*, size_t);
  void (*write)(char*, size_t, float);
  float (*fma)(int, float);
};

#define DV_PROBES(name, width, attributes)                                                    \
  using Vector##name = float __attribute__((vector_size(width), aligned(width), may_alias));  \
  attributes DV_PROBE float Read##name(const char* d, size_t n) {                             \
    return ReadBody<Vector##name>(d, n);                                                      \
  }                                                                                           \
  attributes DV_PROBE void Write##name(char* d, size_t n, float x) {                          \
    WriteBody<Vector##name>(d, n, x);                                                         \
  }                                                                                           \
  attributes DV_PROBE float Fma##name(int n, float x) { return FmaBody<Vector##name>(n, x); } \
  constexpr Probe k##name{(width) / 4, Read##name, Write##name, Fma##name};

DV_PROBES(Plain, 16, )
#if defined(__x86_64__)
DV_PROBES(Avx2, 32, __attribute__((target("avx2,fma"))))
DV_PROBES(Avx512, 64, __attribute__((target("avx512f"))))
#endif

const Probe& BestProbe() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2;
#endif
  return kPlain;
}

// Amount per second of the fastest of many bursts.
template <typename Burst>
double BestRate(double amount, Burst burst) {
  double best = 0;
  const Stopwatch watch;
  burst();
  do {
    const int64_t start = MonotonicNs();
    burst();
    const int64_t ns = std::max<int64_t>(1, MonotonicNs() - start);
    best = std::max(best, amount / (1e-9 * static_cast<double>(ns)));
  } while (watch.Seconds() < kProbeSeconds);
  return best;
}

std::string ProcessorKey() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  std::string key;
  while (std::getline(file, line) && !line.empty())
    for (const char* field :
         {"model name", "cpu family", "model\t", "stepping", "cache size", "CPU part"})
      if (line.starts_with(field)) key += line.substr(line.find(':') + 1);
  return fmt::format("core/5/{}/{}", BestProbe().lanes, key);
}

}  // namespace

Result<CorePeaks> MeasureCorePeaks() {
#if !defined(__OPTIMIZE__)
  return Unavailable("peaks are measured by optimised builds only");
#else
  const Probe& probe = BestProbe();
  std::vector<char> storage(kReadBytes + 64);
  char* data = storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64) % 64;
  std::memset(data, 0, kReadBytes);
  volatile float sink = 0;
  CorePeaks peaks;
  peaks.read_bytes_per_second =
      BestRate(static_cast<double>(kReadBytes), [&] { sink = probe.read(data, kReadBytes); });
  constexpr int kPasses = 16;  // a single pass is shorter than the clock's own cost
  peaks.write_bytes_per_second = BestRate(static_cast<double>(kPasses * kWriteBytes), [&] {
    for (int i = 0; i < kPasses; ++i) probe.write(data, kWriteBytes, static_cast<float>(i));
  });
  const double flops = 2.0 * kFmaRounds * kNumAccumulators * probe.lanes;
  peaks.fp32_flops_per_second = BestRate(flops, [&] { sink = probe.fma(kFmaRounds, 0.5F); });
  return peaks;
#endif
}

json ToJson(const CorePeaks& peaks) {
  return {{"read_gb_per_s", 1e-9 * peaks.read_bytes_per_second},
          {"write_gb_per_s", 1e-9 * peaks.write_bytes_per_second},
          {"fp32_gflops", 1e-9 * peaks.fp32_flops_per_second}};
}

Result<CorePeaks> CachedCorePeaks(store::KvCache* cache, bool remeasure) {
  const std::string key = ProcessorKey();
  CorePeaks known;
  if (cache != nullptr)
    if (auto found = cache->Get("peaks", key); found.ok() && *found && (*found)->is_object()) {
      const auto rate = [&](const char* name) { return 1e9 * (*found)->value(name, 0.0); };
      known = {rate("read_gb_per_s"), rate("write_gb_per_s"), rate("fp32_gflops")};
      if (!remeasure && known.read_bytes_per_second > 0 && known.write_bytes_per_second > 0)
        return known;
    }
  DAVINCI_ASSIGN_OR_RETURN(CorePeaks peaks, MeasureCorePeaks());
  peaks.read_bytes_per_second = std::max(peaks.read_bytes_per_second, known.read_bytes_per_second);
  peaks.write_bytes_per_second =
      std::max(peaks.write_bytes_per_second, known.write_bytes_per_second);
  peaks.fp32_flops_per_second = std::max(peaks.fp32_flops_per_second, known.fp32_flops_per_second);
  if (cache != nullptr)
    (void)cache->Put("peaks", key, ToJson(peaks));  // a lost entry is measured again
  return peaks;
}

}  // namespace davinci::judge
