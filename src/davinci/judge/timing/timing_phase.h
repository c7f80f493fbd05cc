// Pairs until the stopping criterion is content: planned from a few that warm up, then measured.
#pragma once

#include <optional>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"
#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/stopping_criterion.h"

namespace davinci::judge {

struct PhasePlan {
  stats::StoppingOptions options;
  stats::MeasurementPlan plan;
};

struct TimingPhase {
  stats::StopDecision decision;
  std::vector<stats::PairedSample> samples;
};

// From a few pairs that warm up. Here and in MeasurePhase: nothing where a verdict stands.
Result<std::optional<PhasePlan>> PlanTiming(Trial& trial);
// Pairs until the stopping criterion is content.
Result<std::optional<TimingPhase>> MeasurePhase(Trial& trial, const PhasePlan& timing);

}  // namespace davinci::judge
