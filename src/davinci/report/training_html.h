// The report of a training run as one HTML page, under the rules of html.h: curves as SVG, no
// scripts, no network.
#pragma once

#include <string>

#include "davinci/report/training_view.h"

namespace davinci::report {

// Deterministic. Curves of more than 400 points show the mean of each of 400 stretches.
std::string RenderTrainingHtml(const TrainingView& view);

}  // namespace davinci::report
