// Held-out tasks answered by a checkpoint of a training: davinci bench in a process of its own.
#pragma once

#include "davinci/base/cancel.h"
#include "davinci/trainer/answers.h"
#include "davinci/trainer/settings.h"

namespace davinci::app {

// For each of settings.tasks a run of bench, greedy, below RUN/answers/step-N, that resumes.
trainer::AnswerTasks AnswerWithBench(const trainer::SftSettings& settings,
                                     const std::filesystem::path& run, CancelToken cancel);

}  // namespace davinci::app
