#include "davinci/stats/window_time.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "davinci/stats/summary.h"

namespace davinci::stats {
namespace {

constexpr double kNoise = 3;  // standard errors
// The same of calls alone, where an honest call takes less, if anything: windows that share a
// launch are otherwise believed on a busy machine.
constexpr double kNoiseAlone = 1.5;
constexpr size_t kLeastAlone = 3;
// The spread of a handful is badly known itself: that of four counts twice.
constexpr double kBadlyKnown = 4;
// Standard deviation of the logarithm of a call's time, where all of it waits for the host: 589
// judgements of 93 modules on an H200, 16 at a time (docs/results/judge.md).
constexpr double kHostLogSd = 0.5;
// One in sixteen empty windows of 0.50 ms took 0.6 to 1.5 ms there.
constexpr double kDisturbedEmpty = 1.2;
// A window need not be longer than this.
constexpr double kAmpleSeconds = 1e-2;

double Believed(double call_seconds) {
  return std::max(kBelievedSeconds, kBelievedShare * call_seconds);
}

double HostSeconds(double call_seconds, const CallBounds& bounds) {
  return bounds.latency.empty() ? 0 : Median(bounds.latency) - call_seconds;
}

// What a full queue would wait for the host, beyond the call: latency less one flush is the host's
// time and at most the call's.
double BehindSeconds(const std::vector<double>& latency, double flush_seconds,
                     double call_seconds) {
  if (latency.empty()) return 0;
  return std::max(0.0, Median(latency) - flush_seconds - 2 * call_seconds);
}

// By what calls alone take longer than in a full queue, less what they do for every kernel.
double ExcessAlone(double call_seconds, const CallBounds& bounds) {
  const double usual = bounds.usual_alone.empty()
                           ? 0
                           : std::max(0.0, Median(bounds.usual_alone) - bounds.usual_seconds);
  return Median(bounds.alone) - call_seconds - usual;
}

}  // namespace

double EmptySeconds(std::span<const WindowReading> readings, const double* usual) {
  std::vector<double> empty;
  for (const WindowReading& reading : readings)
    if (reading.empty_seconds) empty.push_back(*reading.empty_seconds);
  if (empty.empty()) return usual != nullptr ? *usual : 0;
  double own = Median(empty);
  if (const auto [least, most] = std::minmax_element(empty.begin(), empty.end());
      empty.size() == 2 && *most > kDisturbedEmpty * *least)
    own = *least;
  return usual != nullptr ? std::min(own, *usual + kMostOverUsualEmptySeconds) : own;
}

std::vector<double> CallSeconds(std::span<const WindowReading> readings, int calls,
                                double empty_seconds, double least_seconds) {
  std::vector<double> seconds;
  for (const WindowReading& reading : readings)
    seconds.push_back(
        std::max(least_seconds, (reading.with_calls_seconds - empty_seconds) / calls));
  return seconds;
}

std::vector<size_t> PairsThatWereHeld(std::span<const WindowReading> candidate,
                                      std::span<const WindowReading> baseline, int calls,
                                      double candidate_empty, double baseline_empty) {
  std::vector<bool> held(candidate.size(), true);
  const auto look = [&](std::span<const WindowReading> readings, double empty) {
    const std::vector<double> seconds = CallSeconds(readings, calls, empty);
    if (seconds.empty()) return;
    const double least = kLeastOfMedian * Median(seconds);
    for (size_t i = 0; i < seconds.size(); ++i)
      if (readings[i].with_calls_seconds < empty - kSoonerThanEmptySeconds || seconds[i] < least)
        held[i] = false;
  };
  look(candidate, candidate_empty);
  look(baseline, baseline_empty);
  std::vector<size_t> kept;
  for (size_t i = 0; i < held.size(); ++i)
    if (held[i]) kept.push_back(i);
  if (2 * kept.size() < held.size() || kept.size() < kLeastAlone) {
    kept.resize(held.size());
    std::iota(kept.begin(), kept.end(), size_t{0});
  }
  return kept;
}

double HostErrorLogSd(const CallMedians& candidate, const CallMedians& baseline) {
  const auto waits = [](const CallMedians& call) {
    if (call.full_queue <= 0 || call.alone <= 0) return 0.0;
    return std::max(0.0, 1 - call.alone / call.full_queue);
  };
  return kHostLogSd * std::hypot(waits(candidate), waits(baseline));
}

double FirstCallSeconds(std::span<const WindowReading> readings, int calls,
                        std::span<const WindowReading> others, int other_calls) {
  const auto added = [](std::span<const WindowReading> windows) {
    return Median(CallSeconds(windows, 1, EmptySeconds(windows)));
  };
  const double usual = added(readings);
  const double other = added(others);
  const double next = (usual - other) / (calls - other_calls);
  return std::max(0.0, (calls == 1 ? usual : other) - next);
}

HostPace HostPaceSeconds(double call_seconds, const CallBounds& bounds) {
  HostPace pace;
  if (!bounds.one_call || bounds.latency.empty() || bounds.usual_latency.empty()) return pace;
  const double own_error = MedianStandardError(bounds.latency);
  const double usual_error = MedianStandardError(bounds.usual_latency);
  const double noise = kNoise * std::hypot(own_error, usual_error);
  double own = BehindSeconds(bounds.latency, bounds.flush_seconds, call_seconds);
  double usual = BehindSeconds(bounds.usual_latency, bounds.flush_seconds, bounds.usual_seconds);
  if (std::max(own, usual) <= std::max(noise, kBelievedSeconds)) return pace;
  const double middle = std::midpoint(own, usual);
  if (std::abs(own - usual) <= noise) own = usual = middle;
  pace.candidate_seconds = own;
  pace.baseline_seconds = usual;
  pace.ratio_log_sd = std::hypot(own > 0 ? own_error / (call_seconds + own) : 0,
                                 usual > 0 ? usual_error / (bounds.usual_seconds + usual) : 0);
  pace.with_one_pace = (bounds.usual_seconds + middle) / (bounds.usual_seconds + usual) *
                       (call_seconds + own) / (call_seconds + middle);
  return pace;
}

double ChargedSeconds(double call_seconds, const CallBounds& bounds) {
  const double host = HostSeconds(call_seconds, bounds);
  if (host > kHiddenHostSeconds) {
    if (bounds.one_call) return 0;
    // A host that takes so long sets the pace, but for what a flush hides.
    const double behind = BehindSeconds(bounds.latency, bounds.flush_seconds, call_seconds);
    const double usual =
        BehindSeconds(bounds.usual_latency, bounds.flush_seconds, bounds.usual_seconds);
    const double noise =
        kNoise * (1 + kBadlyKnown / static_cast<double>(bounds.latency.size())) *
        std::hypot(MedianStandardError(bounds.latency), MedianStandardError(bounds.usual_latency));
    return behind - usual - noise > Believed(call_seconds) ? behind - usual : 0;
  }
  if (bounds.alone.size() < kLeastAlone) return 0;
  const double excess = ExcessAlone(call_seconds, bounds);
  // Of the windows with calls and of the empty ones, which differ by about as much.
  const double noise =
      kNoiseAlone * (1 + kBadlyKnown / static_cast<double>(bounds.alone.size())) *
      std::numbers::sqrt2 *
      std::hypot(MedianStandardError(bounds.alone), MedianStandardError(bounds.usual_alone));
  return excess - noise > Believed(call_seconds) ? excess : 0;
}

bool ChargeIsInDoubt(double call_seconds, const CallBounds& bounds) {
  return HostSeconds(call_seconds, bounds) <= kHiddenHostSeconds &&
         bounds.alone.size() >= kLeastAlone &&
         ExcessAlone(call_seconds, bounds) > Believed(call_seconds);
}

double AfterDoneSeconds(std::span<const double> candidate, std::span<const double> baseline,
                        int calls, double call_seconds) {
  if (candidate.empty() || baseline.empty() || calls < 1) return 0;
  const double noise = std::hypot(MedianStandardError(candidate), MedianStandardError(baseline));
  const double each = (Median(candidate) - Median(baseline) - kNoise * noise) / calls;
  return each > Believed(call_seconds) ? each : 0;
}

int CallsPerWindow(double call_seconds, int most) {
  const double ample = kAmpleSeconds / std::max(call_seconds, kShortestSeconds);
  return std::clamp(static_cast<int>(std::min(ample, static_cast<double>(most))), 1,
                    std::max(most, 1));
}

}  // namespace davinci::stats
