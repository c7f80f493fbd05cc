// What windows say (timed_windows.h measures them): seconds of a call, what is charged, and
// the clock of record (docs/judge-internals.md, "Time of record on cuda").
#pragma once

#include <vector>

#include "davinci/judge/trial/timed_pairs.h"
#include "davinci/judge/trial/trial.h"
#include "davinci/stats/paired_ratio.h"

namespace davinci::judge {

// Samples of the windows `of`, all of which are of one kind, as measured.
std::vector<stats::PairedSample> WindowSamples(const TimedPairs& pairs, const WindowPlan& plan,
                                               const std::vector<TimedPair>& of,
                                               const WindowKind& kind);
// What the candidate is charged for, with its evidence.
void ChargeWindows(Trial& trial);

}  // namespace davinci::judge
