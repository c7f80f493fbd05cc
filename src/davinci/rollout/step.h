// One step of co-evolution over some tasks: select, roll out, confirm, summarise, verify, stage.
// The front header of this module.
//
// Per task: k Selection calls and the null scheme; identical schemes are merged and their rollouts
// spent on the others; n rollouts per scheme of T turns each, every turn judged under the screening
// protocol and answered with feedback; the best kernels are judged again under the full protocol.
// With `learn`: when the best trajectory earned it, s Summary calls; every proposal is put to a
// paired experiment and, if it passes, staged. Nothing is flushed here: the owner of the run
// does that, once per step.
//
// Threads: one per task and one per rollout that is under way; how many model calls and judgements
// run at once is up to the lanes (lane.h). Rollouts of one task share nothing but its notes, tasks
// share nothing at all: a failure ends a trajectory with kFailed and a task at worst, never its
// neighbours. Failures that would hit every task alike (disk full, key refused, unknown model) end
// the step.
//
// Resuming: every unit goes through the UnitLog, and what is decided depends on units alone. So the
// same call with the same run goes on where a killed one stopped.
#pragma once

#include <vector>

#include "davinci/rollout/settings.h"
#include "davinci/rollout/step_context.h"

namespace davinci::rollout {

// Runs the tasks; one outcome each, in their order. `tasks_in_flight` bounds how many are under
// way.
std::vector<TaskOutcome> RunStep(const StepContext& context, const StepSettings& settings, int step,
                                 const std::vector<TaskInput>& tasks, int tasks_in_flight);

}  // namespace davinci::rollout
