// A judged candidate as a file for the user (runs/export_kernel.h).
#pragma once

#include <filesystem>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/request/request.h"
#include "installation.h"

namespace davinci::app {

// Has the judge call the candidate's export, too. Before the request is judged.
Status PrepareExport(const Installation& installation, judge::EvaluationRequest* request);

// Writes the candidate of `request`, which the user named as `candidate`, with its guard to `file`.
// Nothing for a candidate that is not correct; for one that is and has no export, the reason goes
// to standard error.
Status WriteExport(const judge::EvaluationRequest& request, const std::string& candidate,
                   const Evaluation& evaluation, const Installation& installation,
                   const std::filesystem::path& file);

}  // namespace davinci::app
