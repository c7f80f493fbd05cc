// Does the kernel run from its export? The export's guard falls back to the reference without an
// error, so a correct kernel whose export always falls back would look like a success.
#pragma once

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// With a correct evaluation: does the kernel run from its export?
Status CheckExport(Trial& trial, Evaluation* evaluation);

}  // namespace davinci::judge
