// Questions beside the verdict: the published rule, and whether NaN gets through.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// What the published rule says of outputs that were `compared` already.
Status AskPublishedRule(Trial& trial, const std::string& distribution, int variant,
                        const nlohmann::json& layout, const nlohmann::json& compared);
// One more call, on inputs with NaN: labels only.
void ProbeNonfinite(Trial& trial);

}  // namespace davinci::judge
