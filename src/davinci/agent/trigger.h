// Is a trajectory worth a summary? Pure.
//
// It is when its first turn was correct, and a later turn is both fast and much faster than the
// first. By default both are asked of the 95 % intervals: the lower end of the speedup, and the
// lower end of the gain over turn 1 (two independent measurements, so their half widths add in
// quadrature on the log scale). `as_published` asks the medians instead and takes the turn with the
// largest one.
#pragma once

#include <span>
#include <string>

#include "davinci/data/evaluation.h"

namespace davinci::agent {

struct TriggerOptions {
  double min_gain = 1.2;     // over turn 1
  double min_speedup = 1.2;  // over the baseline
  bool require_first_correct = true;
  bool as_published = false;
};

struct TriggerDecision {
  bool fire = false;
  int best = -1;        // index of the turn to summarise; -1: no later turn has a speedup
  double gain = 0;      // over turn 1, medians; 0 when turn 1 has no speedup
  double gain_low = 0;  // its lower end
  std::string reason;   // one sentence, also when it does not fire
};

// `turns` in order. A turn without a speedup (incorrect, or checked without a device) counts as 0.
TriggerDecision DecideTrigger(std::span<const Evaluation> turns, const TriggerOptions& options);

// Lower end of the 95 % interval of later / first: two independent measurements, whose half widths
// add in quadrature on the log scale. 0 where either is unbounded.
double SureGain(const Speedup& later, const Speedup& first);

}  // namespace davinci::agent
