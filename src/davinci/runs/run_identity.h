// What makes two commands the same run.
#pragma once

#include <map>
#include <string>

#include "davinci/runs/run_recipe.h"

namespace davinci::runs {

// Every setting that changes what a run asks of model and judge, by dotted key. A run can be
// continued under other values of any other setting: concurrency, budgets, endpoints, keys. The
// opener of a run adds the texts of the prompts (PromptSet::hash()) as "agents.prompts".
std::map<std::string, std::string> Identity(const RunRecipe& recipe);

}  // namespace davinci::runs
