// Questions beside the verdict: the published rule, and whether NaN gets through.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/status.h"
#include "davinci/judge/trial.h"

namespace davinci::judge {

Status AskPublishedRule(Trial& trial, const std::string& distribution, int variant,
                        const nlohmann::json& layout, const nlohmann::json& compared);
void ProbeNonfinite(Trial& trial);

}  // namespace davinci::judge
