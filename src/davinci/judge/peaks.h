// Peaks: the best rates one core of this machine can reach, measured natively in about a tenth of a
// second.
//
// They answer one question: is a claimed time possible at all? So every rate here is an upper
// bound, not a typical value: one core alone, best of many short bursts (a busy machine disturbs
// most of them, not all), from a cache that is nearer than the memory a real call has to reach.
// Multiplied by the number of threads they cannot be beaten by threads that share caches, memory
// and clock.
#pragma once

#include <nlohmann/json.hpp>

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

}  // namespace davinci::judge
