// The Evaluation of a trial without a device.
#pragma once

#include <nlohmann/json.hpp>

#include "davinci/data/evaluation.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// The sentence for people, and what was done as evidence. Whatever the report claims, it cannot
// make the verdict better.
void DescribeCompileOnly(Trial& trial, const nlohmann::json& report, Evaluation* evaluation);

}  // namespace davinci::judge
