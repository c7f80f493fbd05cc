// Questions about a task alone, without a candidate.
#pragma once

#include <nlohmann/json.hpp>

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// Task admission instead of an evaluation: starts the oracle alone.
Result<nlohmann::json> AdmitTask(Trial& trial);
// What the reference computes (python/davinci_worker/module_graph.py), likewise.
Result<nlohmann::json> TraceTask(Trial& trial);

}  // namespace davinci::judge
