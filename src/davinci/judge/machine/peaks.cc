#include "davinci/judge/machine/peaks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/numerics/memory_tools.h"
#include "davinci/stats/summary.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kProbeSeconds = 0.035;  // for each of the three rates
constexpr size_t kReadBytes =
    size_t{2} << 20;  // beyond a private cache of ordinary size, well inside a shared one
constexpr size_t kWriteBytes = size_t{16} << 10;
constexpr int kNumAccumulators = 12;
constexpr int kFmaRounds = 2000;
constexpr double kRateSeconds = 0.04;  // for each rate of all threads
constexpr size_t kFewestRepeats = 5;
constexpr int kFmaBursts = 32;  // of a thread, one after the other: 0.1 ms
// Bytes of a buffer whose rates are measured: less is a matter of how threads start, more than this
// and twice the last-level cache is memory's rate.
constexpr double kSmallestBuffer = 64 << 10;
constexpr double kLargestBuffer = 128 << 20;
constexpr double kLargestBufferEver = 512 << 20;

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

// A power of four, so that sizes alike share what was measured.
size_t BufferBytes(double bytes) {
  const double cache = static_cast<double>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
  const double most = std::clamp(2 * cache, kLargestBuffer, kLargestBufferEver);
  const double wanted = std::clamp(bytes, kSmallestBuffer, most);
  return size_t{1} << (2 * std::lround(std::log2(wanted) / 2));
}

std::string RatesKey(int threads, double bytes) {
  return fmt::format("rates/2/{}/{}/{}", threads, BufferBytes(bytes), ProcessorKey());
}

// Amount per second of `threads` threads that do their parts at once, each timed by itself, in a
// good round of several (the upper quartile: in the best one, all was cached by chance). `prepare`
// runs before a round, on a thread of its own.
template <typename Prepare, typename Part>
double TeamRate(double amount, int threads, Prepare prepare, Part part) {
  std::vector<int64_t> ns(static_cast<size_t>(threads));
  std::barrier gate(threads);
  bool more = true;  // written by thread 0 alone, between the gates
  std::vector<double> rates;
  const Stopwatch watch;
  const auto work = [&](int index) {
    for (;;) {
      if (index == 0) std::jthread([&] { prepare(); }).join();
      gate.arrive_and_wait();
      const int64_t start = MonotonicNs();
      part(index);
      ns[static_cast<size_t>(index)] = MonotonicNs() - start;
      gate.arrive_and_wait();
      if (index == 0) {
        const int64_t slowest = std::max<int64_t>(1, *std::max_element(ns.begin(), ns.end()));
        rates.push_back(amount / (1e-9 * static_cast<double>(slowest)));
        more = rates.size() < kFewestRepeats || watch.Seconds() < kRateSeconds;
      }
      gate.arrive_and_wait();
      if (!more) return;
    }
  };
  std::vector<std::jthread> team;
  for (int index = 1; index < threads; ++index) team.emplace_back(work, index);
  work(0);
  return stats::Percentile(rates, 0.75);
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

Result<stats::AttainableRates> MeasureRates([[maybe_unused]] int threads,
                                            [[maybe_unused]] double bytes) {
#if !defined(__OPTIMIZE__)
  return Unavailable("rates are measured by optimised builds only");
#else
  threads = std::max(threads, 1);
  const Probe& probe = BestProbe();
  const size_t size = BufferBytes(bytes);
  constexpr size_t kLine = 64;
  const auto aligned = [&](std::vector<char>* storage) {
    storage->resize(size + kLine);
    return storage->data() + (kLine - reinterpret_cast<uintptr_t>(storage->data()) % kLine) % kLine;
  };
  std::vector<char> read_storage;
  std::vector<char> write_storage;
  char* const from = aligned(&read_storage);
  char* const to = aligned(&write_storage);
  // Of the first `whole` bytes the share of a thread, in whole lines.
  const auto begin = [&](size_t whole, int index) {
    return whole / kLine * static_cast<size_t>(index) / static_cast<size_t>(threads) * kLine;
  };
  char value = 0;
  // As inputs are when a call begins: in no core's cache.
  const auto fresh = [&] {
    std::memset(from, ++value, size);
    (void)numerics::FlushCacheLines(from, size);
  };
  const auto nothing = [] {};
  std::vector<float> sink(static_cast<size_t>(threads) * kLine);
  stats::AttainableRates rates;
  const auto total = static_cast<double>(size);
  rates.read_bytes = TeamRate(total, threads, fresh, [&](int i) {
    const size_t at = begin(size, i);
    sink[static_cast<size_t>(i) * kLine] = probe.read(from + at, begin(size, i + 1) - at);
  });
  rates.write_bytes = TeamRate(total, threads, nothing, [&](int i) {
    const size_t at = begin(size, i);
    std::memset(to + at, 1, begin(size, i + 1) - at);
  });
  rates.copy_bytes = TeamRate(total, threads, fresh, [&](int i) {
    const size_t at = begin(size / 2, i);
    std::memcpy(to + at, from + at, begin(size / 2, i + 1) - at);
  });
  const double flops = 2.0 * kFmaRounds * kNumAccumulators * probe.lanes * kFmaBursts * threads;
  rates.flops = TeamRate(flops, threads, nothing, [&](int i) {
    for (int burst = 0; burst < kFmaBursts; ++burst)
      sink[static_cast<size_t>(i) * kLine] += probe.fma(kFmaRounds, 0.5F);
  });
  return rates;
#endif
}

json ToJson(const stats::AttainableRates& rates) {
  return {{"read_gb_per_s", 1e-9 * rates.read_bytes},
          {"write_gb_per_s", 1e-9 * rates.write_bytes},
          {"copy_gb_per_s", 1e-9 * rates.copy_bytes},
          {"fp32_tflops", 1e-12 * rates.flops}};
}

stats::AttainableRates RatesFromJson(const json& document) {
  const auto rate = [&](const char* name) {
    const auto found = document.find(name);
    return found != document.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  return {1e9 * rate("read_gb_per_s"), 1e9 * rate("write_gb_per_s"), 1e9 * rate("copy_gb_per_s"),
          1e12 * rate("fp32_tflops")};
}

std::optional<stats::AttainableRates> KnownRates(store::KvCache* cache, int threads, double bytes) {
  if (cache == nullptr) return std::nullopt;
  const auto found = cache->Get("peaks", RatesKey(threads, bytes));
  if (!found.ok() || !*found || !(*found)->is_object()) return std::nullopt;
  return RatesFromJson(**found);
}

void KeepRates(store::KvCache* cache, int threads, double bytes,
               const stats::AttainableRates& rates) {
  // A lost entry is measured again.
  if (cache != nullptr) (void)cache->Put("peaks", RatesKey(threads, bytes), ToJson(rates));
}

}  // namespace davinci::judge
