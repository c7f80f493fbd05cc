// What other work on the machine does to calls on the cpu target.
//
// A call of 1 ms fits between two preemptions and one of 3 ms does not, so on a busy machine the
// median of all calls favours the faster side. The kernel accounts how long each thread was ready
// to run and had no core (/proc/…/schedstat):
//
//   undisturbed   all threads together waited no longer than waking them costs
//   least         of a disturbed call, the time it took at least: its wall time less all waits, and
//                 no less than its CPU time spread over its threads
//
// Speedups come from undisturbed calls where each side has enough of them, else from all calls,
// with an interval that holds both extremes: nothing was held up, or all waits were other
// programs'. A candidate whose threads wait for each other gains nothing by it: disturbed calls
// count in full at the low end, and in the mean of all calls by their CPU time.
#pragma once

#include <vector>

#include "davinci/judge/roles/call.h"
#include "davinci/judge/trial/trial.h"
#include "davinci/stats/paired_ratio.h"

namespace davinci::judge {

// What a call waits for a core that nothing held up, from the pairs of record.
void LearnWaits(Trial& trial);
// The time that a call took at least, where others disturbed it. `threads`: of the candidate.
double LeastSeconds(const CallCosts& costs, int threads, const CallResult& call);
// Samples of record on cpu, as measured.
std::vector<stats::PairedSample> HostSamples(Trial& trial);
// `ratio` with an interval that holds both extremes, where calls were disturbed.
stats::PairedRatio WithinLoad(Trial& trial, const stats::PairedRatio& ratio,
                              const stats::PairedRatioOptions& options);

}  // namespace davinci::judge
