// A trial of a CUDA candidate on a machine without a GPU: compiled for the target
// architecture, interpreted on CPU tensors where that is possible, compared by the same oracle as
// ever, never timed. The CPU is the target underneath, so the task's cpu sizes apply; its declared
// shape variants come first, because they are small. Where the task's own size is too large, the
// oracle sets its module globals to smaller values (smaller.py), and an answer that is wrong there
// decides nothing: a candidate may be written for one size.
#pragma once

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/request/job.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/judge/roles/judge_context.h"

namespace davinci::judge {

// At the task's own size, and where that is too large to be drawn or interpreted, at smaller ones.
Result<Evaluation> EvaluateCompileOnly(const JudgeContext& context, Job job,
                                       const Protocol& protocol);

}  // namespace davinci::judge
