// A reply whose text alone shows kernels that cannot work (agent/sound_kernels.h) is asked for
// again before anything is judged: a call costs a small model less than a judgement.
//
// Each call is a unit of its own, the further ones with the variant "again 1", "again 2". They are
// sampled at a temperature where the first one is not, since that would say the same.
#pragma once

#include <functional>
#include <string>

#include "davinci/rollout/step_run.h"

namespace davinci::rollout {

// Lets a request draw another reply than the one before it: `again` of 1 is the second call.
void SampleAgain(int again, llm::Request* request);

// Returns what `call` gave with the fewest kernels that cannot work, with the tokens and the costs
// of all its calls: one, and at most StepSettings::retries more. `call` gets the unit and which
// call it is, from 0; `code` gives a reply's code, "" where it has none.
Result<ModelCall> CallUntilSound(const StepRun& run, const TaskInput& task, const UnitId& id,
                                 const std::function<Result<ModelCall>(const UnitId&, int)>& call,
                                 const std::function<std::string(const llm::Reply&)>& code);

}  // namespace davinci::rollout
