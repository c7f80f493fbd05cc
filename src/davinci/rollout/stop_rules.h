// When does a trajectory deserve no further turn? Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "davinci/data/evaluation.h"
#include "davinci/rollout/settings.h"

namespace davinci::rollout {

// How near the candidate comes to the roofline, by the lower end of its speedup: attainable time
// over candidate time. Nothing when the evaluation has no roofline or no bounded time.
std::optional<double> RooflineShareLow(const Evaluation& evaluation);

// Is `later` faster than `earlier` by more than noise? The lower end of the ratio of both speedups
// (half widths on the log scale in quadrature) is above `min_gain`. An unbounded interval tells
// nothing: no.
bool IsBetterThanNoise(const Evaluation& earlier, const Evaluation& later, double min_gain);

// The reason to stop after `turns`, or nothing.
std::optional<std::string> ReasonToStop(std::span<const Evaluation> turns,
                                        const StopSettings& settings);

}  // namespace davinci::rollout
