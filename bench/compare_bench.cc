// Throughput of the comparator. bytes_per_second counts everything read: truth and candidate (or
// honest).
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "davinci/numerics/compare.h"
#include "davinci/numerics/memory_tools.h"

namespace davinci::numerics {
namespace {

struct Data {
  std::vector<double> truth;
  std::vector<u16> f16;
  std::vector<float> f32;
  Data(int64_t n, bool one_binade) : truth(n), f16(n), f32(n) {
    std::mt19937 rng(1);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < n; ++i) {
      f16[i] = static_cast<u16>((one_binade ? 0x3c00u : rng() % 0x4000u) | (rng() & 0x83ffu));
      f32[i] = one_binade ? 1.0f + static_cast<float>(rng() % 1024) / 1024 : normal(rng);
    }
  }
  const void* Use(DType dtype) {
    for (size_t i = 0; i < truth.size(); ++i)
      truth[i] =
          static_cast<double>(dtype == DType::kF16 ? FloatOfF16(f16[i]) : f32[i]) * (1 + 1e-8);
    return dtype == DType::kF16 ? static_cast<const void*>(f16.data()) : f32.data();
  }
};

constexpr int64_t kElements = 8 << 20;

void BM_Profile(benchmark::State& state) {
  const auto dtype = static_cast<DType>(state.range(0));
  Data data(kElements, state.range(1) != 0);
  const void* stored = data.Use(dtype);
  for (auto _ : state) {
    ErrorProfile profile = {};
    (void)AccumulateProfile(data.truth.data(), stored, dtype, dtype, kElements, &profile, nullptr,
                            static_cast<int>(state.range(2)));
    benchmark::DoNotOptimize(profile);
  }
  state.SetBytesProcessed(state.iterations() * kElements * (8 + DTypeBytes(dtype)));
}
BENCHMARK(BM_Profile)
    ->ArgNames({"dtype", "one_binade", "threads"})
    ->Args({2, 0, 1})
    ->Args({2, 1, 1})
    ->Args({0, 0, 1})
    ->UseRealTime();

void BM_Compare(benchmark::State& state) {
  const auto dtype = static_cast<DType>(state.range(0));
  Data data(kElements, false);
  const void* stored = data.Use(dtype);
  ErrorProfile profile = {};
  (void)AccumulateProfile(data.truth.data(), stored, dtype, dtype, kElements, &profile, nullptr, 0);
  const auto tolerance = BuildTolerance(profile, dtype, DefaultToleranceOptions(dtype));
  std::vector<uint8_t> mask(kElements, 0);
  if (state.range(2) != 0)
    for (int64_t i = 0; i < kElements; i += 256) mask[i] = 1;  // forces the element-by-element path
  for (auto _ : state) {
    auto result =
        Compare(data.truth.data(), stored, dtype, kElements, *tolerance,
                {.dont_care = mask.data(), .num_threads = static_cast<int>(state.range(1))});
    benchmark::DoNotOptimize(result);
  }
  state.SetBytesProcessed(state.iterations() * kElements * (8 + DTypeBytes(dtype)));
}
BENCHMARK(BM_Compare)
    ->ArgNames({"dtype", "threads", "slow_path"})
    ->Args({2, 1, 0})
    ->Args({0, 1, 0})
    ->Args({2, 2, 0})
    ->Args({2, 1, 1})
    ->UseRealTime();

void BM_CompareDirect(benchmark::State& state) {
  Data data(kElements, false);
  const void* stored = data.Use(DType::kF32);
  ErrorProfile profile = {};
  (void)AccumulateProfile(data.truth.data(), stored, DType::kF32, DType::kF32, kElements, &profile,
                          nullptr, 0);
  const auto tolerance = BuildTolerance(profile, DType::kF32, DefaultToleranceOptions(DType::kF32));
  const std::vector<float> copy = data.f32;
  for (auto _ : state) {
    auto result = CompareDirect(stored, copy.data(), DType::kF32, kElements, *tolerance, {});
    benchmark::DoNotOptimize(result);
  }
  state.SetBytesProcessed(state.iterations() * kElements * 8);
}
BENCHMARK(BM_CompareDirect)->UseRealTime();

void BM_Checksum(benchmark::State& state) {
  std::vector<unsigned char> bytes(static_cast<size_t>(state.range(0)), 1);
  for (auto _ : state) benchmark::DoNotOptimize(KeyedChecksum(bytes.data(), bytes.size(), 5, 1));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Checksum)->Arg(64 << 10)->Arg(64 << 20)->UseRealTime();

void BM_FlushCacheLines(benchmark::State& state) {
  std::vector<unsigned char> bytes(static_cast<size_t>(state.range(0)), 1);
  for (auto _ : state) FlushCacheLines(bytes.data(), bytes.size());
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_FlushCacheLines)->Arg(16 << 20)->UseRealTime();

}  // namespace
}  // namespace davinci::numerics
