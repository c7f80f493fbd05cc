// From outcomes to what reports show. Used by the owners of runs: runs/, training/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "davinci/report/run_view.h"
#include "davinci/rollout/step.h"
#include "davinci/runs/run_folder.h"

namespace davinci::runs {

// Tasks, records, settings, stage times and sources; winners are added by the caller.
Result<report::RunView> MakeView(const RunHeader& header, const std::string& resolved_recipe,
                                 const std::string& target,
                                 std::vector<rollout::TaskOutcome> outcomes, store::RunStore& run);

// A recipe's keys, dotted, with their values as TOML.
std::vector<std::pair<std::string, std::string>> FlatSettings(const nlohmann::json& recipe);

}  // namespace davinci::runs
