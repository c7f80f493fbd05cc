// A trial from the first fork to the verdict. Reads like a table of contents in run_trial.cc.
#pragma once

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/machine/device_memory.h"
#include "davinci/judge/request/job.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/judge/roles/judge_context.h"

namespace davinci::judge {

// With a device, or compile-only where the job says so. A Status only for bad input and failures of
// ours.
Result<Evaluation> RunTrial(const JudgeContext& context, const Job& job, const Protocol& protocol,
                            MemoryBudget budget);

}  // namespace davinci::judge
