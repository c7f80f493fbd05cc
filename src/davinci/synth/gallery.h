// A gallery of generated tasks: one HTML page without scripts or network, in the look of the
// reports (report/html.h): counts, then each task with its operators, text and sidecar. Rows of
// demonstrations have kernels ("candidates": id, source, rules, and "verdict", a text): they stand
// next to the task.
#pragma once

#include <string>
#include <vector>

#include "davinci/synth/sampler.h"

namespace davinci::synth {

std::string RenderGallery(const std::vector<nlohmann::json>& rows, const nlohmann::json& manifest);

}  // namespace davinci::synth
