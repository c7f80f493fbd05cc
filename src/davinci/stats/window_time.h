// Seconds of one call from windows of several calls and from windows that are the same but for the
// calls (judge/timing/timed_windows.cc). Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace davinci::stats {

struct WindowReading {
  double with_calls_seconds = 0;
  std::optional<double> empty_seconds;  // where there was one
};

// Returns what an empty window of a process takes: the median of those measured, and of two that
// differ the shorter, because what disturbs one makes it longer. It is 0 where there is none. What
// a process could gain by dawdling in them is bounded by what another process, which is ours,
// needs: pass that one's as `usual`, or nothing.
double EmptySeconds(std::span<const WindowReading> readings, const double* usual = nullptr);
inline constexpr double kMostOverUsualEmptySeconds = 1e-5;

// One call of each window, at least `least_seconds`: what a call is known to take; less is noise of
// the windows. The shortest kernel takes more than a microsecond.
inline constexpr double kShortestSeconds = 1e-6;
std::vector<double> CallSeconds(std::span<const WindowReading> readings, int calls,
                                double empty_seconds, double least_seconds = kShortestSeconds);

// Pairs, by position, of which both windows kept the device until they were let go: neither is over
// much sooner than an empty one, or takes a small part of what its side's calls take in the middle.
// One that does began early, because another process' work took the device from who held it.
// All of them where fewer than half are left, or fewer than three, without which calls alone bound
// nothing. `…_empty`: of EmptySeconds(). What a candidate leaves
// out here are its fastest windows.
std::vector<size_t> PairsThatWereHeld(std::span<const WindowReading> candidate,
                                      std::span<const WindowReading> baseline, int calls,
                                      double candidate_empty, double baseline_empty);
inline constexpr double kSoonerThanEmptySeconds = 2e-5;
inline constexpr double kLeastOfMedian = 0.25;

// A call in a full queue that takes longer than one alone, behind a longer hold, waits for its
// host. How fast that is differs between processes and minutes by more than the windows of one
// measurement show.
// All have one unit; 0 says that nothing was measured.
struct CallMedians {
  double full_queue = 0;
  double alone = 0;
};
// The error of the logarithm of two calls' ratio by that, as a standard deviation.
double HostErrorLogSd(const CallMedians& candidate, const CallMedians& baseline);

// What the first call of a window from an idle queue takes beyond the next, from windows of `calls`
// and of `other_calls`, one of the numbers being 1; 0 where the first takes less.
double FirstCallSeconds(std::span<const WindowReading> readings, int calls,
                        std::span<const WindowReading> others, int other_calls);

// What corroborates the time of one call in a full queue.
struct CallBounds {
  // One call a window, behind the oracle's own flush: cannot be shared with another call, nor
  // overlap with what flushes.
  std::vector<double> alone;
  // The same of the baseline, and what a call of it takes in a full queue.
  std::vector<double> usual_alone;
  double usual_seconds = 0;
  // From an idle queue; the same of the baseline.
  std::vector<double> latency;
  std::vector<double> usual_latency;
  double flush_seconds = 0;  // by which a host runs ahead in a full queue
  // Each window holds one call, so what its host takes is hidden: HostPaceSeconds() tells it.
  bool one_call = false;
};

// What is added to the time of one call on either side where windows hold one call each: by so much
// a full queue would wait for the host. A lower bound: latency less one flush and two calls. Where
// the two differ by noise, both get their mean.
struct HostPace {
  double candidate_seconds = 0;
  double baseline_seconds = 0;
  double ratio_log_sd = 0;  // how well the ratio of the two sums is known
  // By what the ratio baseline / candidate changes if both sides get the mean pace: host times of
  // identical code in two processes can differ by more than noise.
  double with_one_pace = 1;
};
HostPace HostPaceSeconds(double call_seconds, const CallBounds& bounds);

// What is added to `call_seconds` because calls alone took longer, beyond noise, kBelieved… and by
// what the baseline's do; where the host is so slow that it shows in those, because it cannot keep
// that pace, again beyond what the baseline's host falls behind its own. In windows of one call
// that is part of HostPaceSeconds().
double ChargedSeconds(double call_seconds, const CallBounds& bounds);
// Whether calls alone take longer by more than is believed, noise included. Then more of them
// should be measured.
bool ChargeIsInDoubt(double call_seconds, const CallBounds& bounds);
inline constexpr double kBelievedSeconds = 2e-6;
inline constexpr double kBelievedShare = 0.03;
// What the host takes beyond the device may show in a call alone where it is more than this.
inline constexpr double kHiddenHostSeconds = 2e-4;

// What is added to each of a window's calls because the device was found busy for longer after the
// candidate's windows than after the baseline's, beyond noise and what is believed of each call.
double AfterDoneSeconds(std::span<const double> candidate, std::span<const double> baseline,
                        int calls, double call_seconds);

// Calls in a window: as many as make it long against what the device's turn varies by, no more than
// `most`, and fewer of long ones.
int CallsPerWindow(double call_seconds, int most);

}  // namespace davinci::stats
