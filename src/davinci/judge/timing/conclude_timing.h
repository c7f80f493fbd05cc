// The number of record and its interval, from a phase of pairs.
#pragma once

#include <optional>

#include "davinci/judge/timing/samples.h"
#include "davinci/judge/timing/timing_phase.h"
#include "davinci/judge/trial/trial.h"
#include "davinci/stats/stopping_criterion.h"

namespace davinci::judge {

// The number of record; `uneven`: the average, where that is the number.
void ConcludeTiming(Trial& trial, const stats::StoppingOptions& options, const TimingPhase& phase,
                    const std::optional<Average>& uneven);

}  // namespace davinci::judge
