// The verdict as a person reads it.
#pragma once

#include <string>

#include "davinci/data/evaluation.h"
#include "davinci/judge/judge.h"

namespace davinci::app {

// A short table: verdict, speedup with interval, times, labels, message. `color` uses ANSI escapes.
std::string RenderEvaluation(const Evaluation& evaluation, const judge::Job& job, bool color);

}  // namespace davinci::app
