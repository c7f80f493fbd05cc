#include "davinci/judge/stats/window_time.h"

#include <algorithm>
#include <cmath>

#include "davinci/judge/stats/summary.h"

namespace davinci::judge {
namespace {

constexpr double kNoise = 3;  // standard errors
// A window need not be longer than this.
constexpr double kAmpleSeconds = 1e-2;
constexpr double kShortestSeconds = 1e-6;

// Surely above this.
double AtLeast(std::span<const double> seconds) {
  return Median(seconds) - kNoise * MedianStandardError(seconds);
}

}  // namespace

double EmptySeconds(std::span<const WindowReading> readings, const double* usual) {
  std::vector<double> empty;
  for (const WindowReading& reading : readings) empty.push_back(reading.empty_seconds);
  if (empty.empty()) return usual != nullptr ? *usual : 0;
  const double own = Median(empty);
  return usual != nullptr ? std::min(own, *usual + kMostOverUsualEmptySeconds) : own;
}

std::vector<double> CallSeconds(std::span<const WindowReading> readings, int calls,
                                double empty_seconds) {
  std::vector<double> seconds;
  for (const WindowReading& reading : readings)
    seconds.push_back(std::max(1e-9, (reading.with_calls_seconds - empty_seconds) / calls));
  return seconds;
}

double ChargedSeconds(double call_seconds, const CallBounds& bounds) {
  const double believed = call_seconds + std::max(kBelievedSeconds, kBelievedShare * call_seconds);
  double charged = 0;
  double host = 0;
  if (!bounds.latency.empty()) {
    if (AtLeast(bounds.latency) - bounds.flush_seconds > believed)
      charged = Median(bounds.latency) - bounds.flush_seconds - call_seconds;
    host = Median(bounds.latency) - call_seconds;
  }
  if (!bounds.alone.empty() && host <= kHiddenHostSeconds && AtLeast(bounds.alone) > believed)
    charged = std::max(charged, Median(bounds.alone) - call_seconds);
  return charged;
}

double AfterDoneSeconds(std::span<const double> candidate, std::span<const double> baseline,
                        int calls, double call_seconds) {
  if (candidate.empty() || baseline.empty() || calls < 1) return 0;
  const double noise = std::hypot(MedianStandardError(candidate), MedianStandardError(baseline));
  const double each = (Median(candidate) - Median(baseline) - kNoise * noise) / calls;
  return each > std::max(kBelievedSeconds, kBelievedShare * call_seconds) ? each : 0;
}

int CallsPerWindow(double call_seconds, int most) {
  const double ample = kAmpleSeconds / std::max(call_seconds, kShortestSeconds);
  return std::clamp(static_cast<int>(std::min(ample, static_cast<double>(most))), 1,
                    std::max(most, 1));
}

}  // namespace davinci::judge
