// The verdict about a reply of the Policy agent.
#pragma once

#include <string>

#include "davinci/base/status.h"
#include "davinci/data/rollout.h"
#include "davinci/rollout/step_run.h"
#include "davinci/rollout/verdicts.h"

namespace davinci::rollout {

// Judges `candidate`, which stands for the reply's `code`. Where that has several kernels and is
// wrong (wrong_kernels.h) or not faster than the baseline (slow_kernels.h), it is judged with some
// of them, and without its replay where a graph cannot capture the call, at most
// `StepSettings::isolate` times, and `candidate` becomes the best of these. The verdict's times are
// those of all judgements. A replay asks for no judgement that its journal lacks.
Result<Verdict> JudgeReply(StepRun& run, const TaskRun& task, const TurnId& turn,
                           const std::string& code, CandidateFile* candidate);

}  // namespace davinci::rollout
