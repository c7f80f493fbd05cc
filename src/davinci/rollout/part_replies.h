// A turn about steps that are too many for one reply (agent/step_parts.h): the model is asked for
// each part of the plan, and what it says of all parts is the turn's reply.
//
// Each call is a unit of its own, the generation's with `sample` counted from 0, so that none is
// paid for twice; the turn's unit has the joined reply, with "parts" in its note. A part whose
// reply has no code adds nothing: PyTorch computes its steps. Such a reply has no token trace.
#pragma once

#include <vector>

#include "davinci/agent/step_parts.h"
#include "davinci/rollout/step_run.h"

namespace davinci::rollout {

// The parts of a first turn about the task; empty: it is asked about as a whole.
std::vector<agent::StepPart> PartsOfTurn(const StepRun& run, const TaskRun& task,
                                         const search::TurnPlan& plan);

// The reply to all parts.
Result<ModelCall> CallForParts(StepRun& run, const TaskRun& task, const PlannedRollout& planned,
                               const TurnId& turn, const std::vector<agent::StepPart>& parts);

}  // namespace davinci::rollout
