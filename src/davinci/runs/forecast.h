// A forecast says what a run asks of its model at most, before it begins. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "davinci/llm/backbone.h"
#include "davinci/runs/run_loop.h"
#include "davinci/runs/run_recipe.h"

namespace davinci::runs {

// An upper bound: stop rules, merged skill sets and budgets make it less; what the run has already
// done is in it.
struct Forecast {
  int64_t tasks = 0;
  // Calls.
  int64_t selection = 0;
  int64_t policy = 0;
  int64_t summary = 0;
  int64_t verification = 0;
  llm::Usage worst;  // tokens of all of them
  int64_t calls() const { return selection + policy + summary + verification; }
};
Forecast ForecastOf(const RunRequest& request);

// Authors say who writes the kernels of a run.
struct Authors {
  bool rules_alone = false;        // no model is asked
  bool rules_too = false;          // one more rollout of each task
  bool recorded = false;           // the model's replies come from a file
  bool paid = false;               // the model is at an endpoint
  std::optional<double> usd = {};  // of Forecast::worst, where prices are known
};
// "2 tasks: at most 51 model calls (3 selection, 48 policy), 402000 reply tokens, at most $1.20".
std::string ForecastText(const Forecast& forecast, const RunRecipe& recipe, const Authors& authors);

// Does the expert write a rollout of each task beside the model's (RunRecipe::expert)? `own_model`:
// the command brings the model.
bool AddsExpert(const RunRecipe& recipe, const std::string& command, const Authors& authors,
                bool own_model);

}  // namespace davinci::runs
