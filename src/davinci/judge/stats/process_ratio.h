// How much faster, where each side was measured in several processes.
//
// What a process is born with (the pages it was given, their addresses, the cores of its threads)
// makes it some per cent faster or slower for life than the next one of the same program. Blocks of
// one pair of processes cannot show that, so an interval made of them alone calls identical code
// different. Here processes are the independent samples:
//
//   crossed   each baseline process meets each candidate process in A B B A blocks. A process's
//             value is the median over its blocks; centre = mean over processes; the variance of
//             the centre = sum over sides of (variance between its processes / their number), with
//             Welch's degrees of freedom.
//   apart     where calls were disturbed (PairedSample::…_clean): few blocks have four undisturbed
//             calls, so each process has the median of its own undisturbed ones, whatever happened
//             to the other side meanwhile: a call of 1 ms fits between two preemptions and one of
//             3 ms does not, and paired as they come the shorter kernel looks faster than it is.
//   neither   too few undisturbed calls on a side: the interval reaches from the least that calls
//             can have taken to all of it, and nothing is significant (`inconclusive`).
//
// Between processes at least the spread of PairedRatioOptions is assumed: a few that happen to
// agree are no proof.
#pragma once

#include <span>

#include "davinci/base/status.h"
#include "davinci/judge/stats/paired_ratio.h"

namespace davinci::judge {

// Undisturbed calls that a process needs to have a value, where sides are measured apart.
constexpr int kLeastCalls = 3;
// Of all blocks, those without a disturbed call: with fewer the sides are measured apart.
constexpr double kMostlyClean = 0.6;

// `pairs` as ComputePairedRatio takes them, with more than one process on a side or with disturbed
// calls. The options must be valid.
PairedRatio ComputeProcessRatio(std::span<const PairedSample> pairs,
                                const PairedRatioOptions& options);

}  // namespace davinci::judge
