// A judged candidate as a file for the user (orchestrator/export_kernel.h).
#pragma once

#include <filesystem>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/request.h"
#include "installation.h"

namespace davinci::app {

// Writes the candidate of `job`, which the user named as `candidate`, with its guard to `file`;
// nothing for a candidate that is not correct.
Status WriteExport(const judge::EvaluationRequest& request, const std::string& candidate,
                   const Evaluation& evaluation, const Installation& installation,
                   const std::filesystem::path& file);

}  // namespace davinci::app
