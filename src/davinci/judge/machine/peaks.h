// Peaks and rates of this machine's cores, measured natively.
//
// CorePeaks (a tenth of a second) answer one question: is a claimed time possible at all? So every
// rate is an upper bound, not a typical value: one core alone, best of many short bursts (a busy
// machine disturbs most of them, not all), from a cache that is nearer than the memory a real call
// has to reach. Multiplied by the number of threads they cannot be beaten by threads that share
// caches, memory and clock.
//
// Rates answer another one: how long does a perfect kernel take? All threads work at once, on as
// many bytes as the task moves, just written by another thread, as a call's inputs are.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "davinci/base/status.h"
#include "davinci/stats/roofline.h"
#include "davinci/store/kv_cache.h"

namespace davinci::judge {

// Rates of one core.
struct CorePeaks {
  double read_bytes_per_second = 0;  // a buffer that fits the last-level cache
  double write_bytes_per_second =
      0;  // a buffer that fits the first-level cache: outputs may stay there
  double fp32_flops_per_second = 0;  // independent fused multiply-adds on the widest vectors
};

// kUnavailable in a build without optimisation, whose loops would be too slow to bound anything.
Result<CorePeaks> MeasureCorePeaks();

nlohmann::json ToJson(const CorePeaks& peaks);

// From `cache` (may be null), else measured and put there. With `remeasure` measures again and
// keeps, rate by rate, the higher value: a peak that was once seen is possible.
Result<CorePeaks> CachedCorePeaks(store::KvCache* cache, bool remeasure);

// Rates of `threads` threads together, for a call that moves `bytes` (a power of four near it is
// measured). At most half a second; kUnavailable as above.
Result<stats::AttainableRates> MeasureRates(int threads, double bytes);

// As a device's peaks are written, too: read_gb_per_s, write_gb_per_s, copy_gb_per_s, fp32_tflops.
nlohmann::json ToJson(const stats::AttainableRates& rates);
stats::AttainableRates RatesFromJson(const nlohmann::json& document);

// Kept in `cache`, which may be null, by processor, threads and size.
std::optional<stats::AttainableRates> KnownRates(store::KvCache* cache, int threads, double bytes);
void KeepRates(store::KvCache* cache, int threads, double bytes,
               const stats::AttainableRates& rates);

}  // namespace davinci::judge
