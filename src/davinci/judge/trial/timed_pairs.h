// Pairs of calls, or of windows of calls, that were timed, and what a trial keeps of them.
#pragma once

#include <cstdint>
#include <vector>

#include "davinci/judge/roles/call.h"
#include "davinci/stats/window_time.h"

namespace davinci::judge {

struct TimedPair {
  CallResult baseline;
  CallResult candidate;
  // cuda: writing the inputs and cooling the caches, by turn; of windows by Side
  int64_t publish_ns[2] = {};
  int launch = 0;
};

// On cuda (timed_windows.h): several calls, or none of them, between two readings of our clock.
struct WindowKind {
  int calls = 1;
  bool flush = false;  // the L2 before each call, by the runner
  bool idle = false;   // each call from an idle queue
  double hold_seconds = 0;
  bool empty = false;
};

struct TimedPairs {
  std::vector<TimedPair> record;  // cuda: of windows in a full queue
  std::vector<TimedPair> stress;  // on inputs of other distributions; of no record
  // cuda: windows from an idle queue, and of one call alone
  std::vector<TimedPair> latency;
  std::vector<TimedPair> alone;
  // Of the baseline, beside those of `latency`, of another number of calls (MeasureFirstCall).
  std::vector<stats::WindowReading> first_call;
};

}  // namespace davinci::judge
