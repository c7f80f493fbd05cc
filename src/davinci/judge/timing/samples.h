// The samples of record, from the pairs so far, and what they come to on average.
#pragma once

#include <vector>

#include "davinci/judge/trial/trial.h"
#include "davinci/stats/paired_ratio.h"

namespace davinci::judge {

// All calls together, those on stress inputs included: work done in few calls for many counts.
struct Average {
  double ratio = 0;
  // Less each side's slowest call, which a neighbour may have hit.
  double ratio_without_worst = 0;
  double candidate_seconds = 0;  // of a call
};

Average OnAverage(const Trial& trial);
// Does the average tell another story than an interval that begins at `low`?
bool IsUneven(const Average& average, double low);
// Learns costs and charges from the pairs of record so far, and applies them.
std::vector<stats::PairedSample> LearnSamples(Trial& trial);

}  // namespace davinci::judge
