#include "davinci/judge/machine/peaks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/judge/request/protocol.h"

namespace davinci::judge {
namespace {

// Sanitizer builds and debug builds measure themselves, not the machine.
bool Skipped(const Result<CorePeaks>& peaks) {
  return !peaks.ok() && peaks.status().code() == StatusCode::kUnavailable;
}

// Another program on the core lowers a measured peak, and the judge measures again before it calls
// a time impossible: the highest of several counts.
constexpr int kMostMeasurements = 20;
void Raise(CorePeaks* peaks) {
  const auto again = MeasureCorePeaks();
  ASSERT_TRUE(again.ok());
  for (const auto peak : {&CorePeaks::read_bytes_per_second, &CorePeaks::write_bytes_per_second,
                          &CorePeaks::fp32_flops_per_second})
    peaks->*peak = std::max(peaks->*peak, (*again).*peak);
}

TEST(CorePeaks, CannotBeBeatenByCopyingFillingOrSummingOnEveryThread) {
  auto peaks = MeasureCorePeaks();
  if (Skipped(peaks)) GTEST_SKIP() << peaks.status().message();
  ASSERT_TRUE(peaks.ok());
  constexpr size_t kBytes = size_t{32} << 20;
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<float> from(kBytes / sizeof(float), 1.0F);
  std::vector<float> to(kBytes / sizeof(float));
  std::vector<float> sums(threads * 16);  // a cache line for each thread
  const auto best_seconds = [&](auto part) {
    double best = 1e9;
    for (int repeat = 0; repeat < 8; ++repeat) {
      const Stopwatch watch;
      std::vector<std::jthread> pool;
      for (unsigned t = 0; t < threads; ++t)
        pool.emplace_back(
            [&, t] { part(from.size() * t / threads, from.size() * (t + 1) / threads, t); });
      pool.clear();
      best = std::min(best, watch.Seconds());
    }
    return best;
  };
  const double sum_seconds = best_seconds([&](size_t a, size_t b, unsigned t) {
    float sum[8] = {};
    for (size_t i = a; i + 8 <= b; i += 8)
      for (size_t k = 0; k < 8; ++k) sum[k] += from[i + k];
    sums[size_t{t} * 16] = std::accumulate(sum, sum + 8, 0.0F);
  });
  const double fill_seconds = best_seconds(
      [&](size_t a, size_t b, unsigned) { std::memset(&to[a], 0, (b - a) * sizeof(float)); });
  const double copy_seconds = best_seconds([&](size_t a, size_t b, unsigned) {
    std::memcpy(&to[a], &from[a], (b - a) * sizeof(float));
  });
  const auto unbeaten = [&] {
    const double read_floor = kBytes / (threads * peaks->read_bytes_per_second);
    const double write_floor = kBytes / (threads * peaks->write_bytes_per_second);
    return sum_seconds > read_floor && fill_seconds > write_floor &&
           copy_seconds > std::max(read_floor, write_floor);
  };
  for (int measurements = 1; !unbeaten() && measurements < kMostMeasurements; ++measurements)
    Raise(&*peaks);
  EXPECT_TRUE(unbeaten()) << sum_seconds << ' ' << fill_seconds << ' ' << copy_seconds;
}

TEST(CorePeaks, AreOfThisMachineAndNotOfTheClock) {
  const auto peaks = MeasureCorePeaks();
  if (Skipped(peaks)) GTEST_SKIP() << peaks.status().message();
  ASSERT_TRUE(peaks.ok());
  for (const double rate : {peaks->read_bytes_per_second, peaks->write_bytes_per_second,
                            peaks->fp32_flops_per_second}) {
    EXPECT_GT(rate, 5e8);
    EXPECT_LT(rate, 2e12);
  }
}

TEST(CachedCorePeaks, RemeasuringNeverForgetsAHigherPeak) {
  auto folder = MakeTempDir("davinci-peaks");
  ASSERT_TRUE(folder.ok());
  auto cache = store::KvCache::Open(folder->path() / "facts.db");
  ASSERT_TRUE(cache.ok());
  const auto first = CachedCorePeaks(cache->get(), false);
  if (Skipped(first)) GTEST_SKIP() << first.status().message();
  ASSERT_TRUE(first.ok());
  const auto kept = CachedCorePeaks(cache->get(), false);
  ASSERT_TRUE(kept.ok());
  EXPECT_NEAR(kept->read_bytes_per_second, first->read_bytes_per_second, 1);
  const auto again = CachedCorePeaks(cache->get(), true);
  ASSERT_TRUE(again.ok());
  EXPECT_GE(again->read_bytes_per_second, kept->read_bytes_per_second - 1);
  EXPECT_GE(again->fp32_flops_per_second, kept->fp32_flops_per_second - 1);
}

TEST(MeasureRates, WhatAllThreadsReachIsPossible) {
  auto peaks = MeasureCorePeaks();
  if (Skipped(peaks)) GTEST_SKIP() << peaks.status().message();
  ASSERT_TRUE(peaks.ok());
  constexpr double kMargin = 0.67;  // check_roofline.cc, kCpuMargin
  int measurements = 1;
  for (const double bytes : {1e6, 1e8})
    for (const int threads : {1, 2}) {
      const auto rates = MeasureRates(threads, bytes);
      ASSERT_TRUE(rates.ok());
      EXPECT_GT(rates->copy_bytes, 1e8);
      const auto is_possible = [&] {
        const double reads = std::max(rates->read_bytes, rates->copy_bytes / 2);
        return kMargin * reads < threads * peaks->read_bytes_per_second &&
               kMargin * rates->write_bytes < threads * peaks->write_bytes_per_second &&
               kMargin * rates->flops < threads * peaks->fp32_flops_per_second;
      };
      for (; !is_possible() && measurements < kMostMeasurements; ++measurements) Raise(&*peaks);
      EXPECT_TRUE(is_possible()) << bytes << " bytes, " << threads << " threads";
      // A copy takes no less than its slower half.
      EXPECT_LT(rates->copy_bytes, 4 * std::max(rates->read_bytes, rates->write_bytes));
    }
}

TEST(KnownRates, AreKeptForThreadsAndSizesAlike) {
  auto folder = MakeTempDir("davinci-rates");
  ASSERT_TRUE(folder.ok());
  auto cache = store::KvCache::Open(folder->path() / "facts.db");
  ASSERT_TRUE(cache.ok());
  EXPECT_FALSE(KnownRates(cache->get(), 2, 1e8));
  KeepRates(cache->get(), 2, 1e8, {4e9, 3e9, 2e9, 1e12});
  const auto known = KnownRates(cache->get(), 2, 1.1e8);
  ASSERT_TRUE(known);
  EXPECT_NEAR(known->copy_bytes, 2e9, 1);
  EXPECT_NEAR(known->flops, 1e12, 1e3);
  EXPECT_FALSE(KnownRates(cache->get(), 1, 1e8));
  EXPECT_FALSE(KnownRates(cache->get(), 2, 1e6));
  EXPECT_FALSE(KnownRates(nullptr, 2, 1e8));
}

TEST(PublishedTolerance, IsThatOfTheBenchmark) {
  EXPECT_EQ(PublishedTolerance(config::Precision::kFp32), 1e-4);
  EXPECT_EQ(PublishedTolerance(config::Precision::kBf16), 1e-2);
  EXPECT_EQ(PublishedTolerance(config::Precision::kFp64), std::nullopt);
}

TEST(ProtocolByName, PublishedTrialsAreFiveAndOnlyThere) {
  const auto published = ProtocolByName("kernelbench");
  ASSERT_TRUE(published.ok());
  EXPECT_TRUE(published->published);
  ASSERT_EQ(published->steps.size(), 5u);
  EXPECT_EQ(published->steps[4].distribution, "published-4");
  const auto ours = ProtocolByName("davinci");
  ASSERT_TRUE(ours.ok());
  EXPECT_FALSE(ours->published);
}

}  // namespace
}  // namespace davinci::judge
