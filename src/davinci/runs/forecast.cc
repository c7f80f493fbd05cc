#include "davinci/runs/forecast.h"

#include <fmt/format.h>

#include "davinci/base/plural.h"

namespace davinci::runs {
namespace {

// Skill sets that each have the recipe's rollouts.
int64_t GroupsOf(const rollout::StepSettings& step) {
  return step.strategy == "davinci" ? step.schemes + (step.null_scheme ? 1 : 0) : 1;
}

}  // namespace

Forecast ForecastOf(const RunRequest& request) {
  const rollout::StepSettings& step = request.recipe.step;
  Forecast forecast;
  forecast.tasks = static_cast<int64_t>(request.header.tasks.size());
  if (step.selection == rollout::SelectionMethod::kAgent)
    forecast.selection = forecast.tasks * step.schemes;
  for (const task::TaskEntry& task : request.header.tasks) {
    const auto own = request.rollouts.find(task.id);
    const int64_t rollouts = own != request.rollouts.end() ? own->second : step.rollouts;
    const int64_t turns = step.strategy == "best_of_n" ? 1 : step.turns * step.iterations;
    forecast.policy +=
        step.strategy == "evolve" ? step.evolve.trials : GroupsOf(step) * rollouts * turns;
  }
  if (step.learn) forecast.summary = forecast.tasks * step.summaries;
  forecast.verification =
      forecast.summary * step.max_new_skills * 2 * step.verification.admission.max_pairs;
  forecast.worst.completion_tokens =
      forecast.selection * step.selection_sampling.max_tokens +
      (forecast.policy + forecast.verification) * step.policy_sampling.max_tokens +
      forecast.summary * step.summary_sampling.max_tokens;
  forecast.worst.prompt_tokens =
      forecast.calls() * step.context_tokens - forecast.worst.completion_tokens;
  return forecast;
}

std::string ForecastText(const Forecast& forecast, const RunRecipe& recipe,
                         const Authors& authors) {
  if (authors.rules_alone)
    return fmt::format("{}: at most {}, which rules write: no model is asked",
                       Counted(forecast.tasks, "task"), Counted(forecast.policy, "kernel"));
  std::string text = fmt::format(
      "{}: at most {} ({} selection, {} policy{}), {} reply tokens",
      Counted(forecast.tasks, "task"), Counted(forecast.calls(), "model call"), forecast.selection,
      forecast.policy,
      recipe.step.learn
          ? fmt::format(", {} summary, {} verification", forecast.summary, forecast.verification)
          : "",
      forecast.worst.completion_tokens);
  if (authors.recorded) return text + ", $0 (recorded replies)";
  if (authors.rules_too) text += "; the expert writes one more rollout";
  if (!authors.paid) return text;
  text += authors.usd ? fmt::format(", at most ${:.2f}", *authors.usd)
                      : std::string(", price unknown (llm.prices names a file with prices)");
  if (recipe.budget.usd > 0) text += fmt::format("; budget ${:g}", recipe.budget.usd);
  return text;
}

bool AddsExpert(const RunRecipe& recipe, const std::string& command, const Authors& authors,
                bool own_model) {
  if (authors.rules_alone || recipe.expert == "off") return false;
  if (recipe.expert == "on") return true;
  const rollout::StepSettings& step = recipe.step;
  const int64_t rollouts =
      step.strategy == "evolve" ? step.evolve.trials : GroupsOf(step) * step.rollouts;
  return command == "optimize" && !authors.recorded && !own_model && rollouts > 1;
}

}  // namespace davinci::runs
