#include "davinci/runs/run_identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "davinci/base/json_text.h"

namespace davinci::runs {
namespace {

using Keys = std::map<std::string, std::string>;

void Put(Keys* keys, const std::string& key, const auto& value) {
  (*keys)[key] = fmt::format("{}", value);
}

void PutTask(const rollout::StepSettings& step, Keys* keys) {
  Put(keys, "run.seed", step.seed);
  Put(keys, "task.target", TargetName(step.target));
  Put(keys, "task.language", LanguageName(step.language));
  Put(keys, "task.baseline", step.baseline);
  if (!step.shapes.empty())
    Put(keys, "task.shapes", fmt::format("{}", fmt::join(step.shapes, "; ")));
  if (!step.hints.empty()) Put(keys, "task.hints", step.hints);
  Put(keys, "policy.require_own_kernel", step.require_own_kernel);
  Put(keys, "policy.require_language", step.require_language);
  if (step.reply == ReplyForm::kDelta) Put(keys, "policy.isolate", step.isolate);
  if (step.task_text == rollout::TaskText::kPlan) Put(keys, "policy.part_steps", step.part_steps);
  if (step.reply == ReplyForm::kDelta) Put(keys, "policy.retries", step.retries);
  if (step.static_rules != rollout::StaticRules::kNone) Put(keys, "policy.static_rules", "kevin");
}

void PutModels(const RunRecipe& recipe, Keys* keys) {
  Put(keys, "llm.model", recipe.llm.model);
  if (!recipe.llm.extra_body.empty()) Put(keys, "llm.extra_body", JsonText(recipe.llm.extra_body));
  for (const auto& [role, llm] : recipe.roles) {
    Put(keys, "llm." + role, llm.model);
    if (llm.extra_body != recipe.llm.extra_body)
      Put(keys, "llm." + role + ".extra_body", JsonText(llm.extra_body));
  }
  Put(keys, "llm.context_tokens", recipe.step.context_tokens);
  Put(keys, "llm.logprobs", recipe.step.logprobs);
  if (!recipe.step.bound_calls) Put(keys, "llm.bound_calls", recipe.step.bound_calls);
}

void PutAgents(const rollout::StepSettings& step, Keys* keys) {
  if (step.task_text != rollout::TaskText::kFile)
    Put(keys, "agents.task", rollout::TaskTextName(step.task_text));
  Put(keys, "selection.schemes", step.schemes);
  Put(keys, "selection.method", rollout::SelectionMethodName(step.selection));
  Put(keys, "selection.null_scheme", step.null_scheme);
  Put(keys, "selection.retrieve", step.retrieve);
  Put(keys, "selection.select", step.select);
  Put(keys, "selection.respend_saved_rollouts", step.respend_saved_rollouts);
  for (const auto& [name, sampling] :
       {std::pair{"selection", step.selection_sampling}, std::pair{"policy", step.policy_sampling},
        std::pair{"summary", step.summary_sampling}}) {
    const std::string agent = fmt::format("{}.", name);
    Put(keys, agent + "temperature", sampling.temperature);
    Put(keys, agent + "top_p", sampling.top_p);
    Put(keys, agent + "top_k", sampling.top_k);
    Put(keys, agent + "min_p", sampling.min_p);
    Put(keys, agent + "thinking", sampling.thinking);
    Put(keys, agent + "max_tokens", sampling.max_tokens);
  }
  Put(keys, "feedback.max_message_bytes", step.feedback.max_message_bytes);
  Put(keys, "feedback.max_bytes", step.feedback.max_bytes);
  Put(keys, "feedback.max_kernels", step.feedback.max_kernels);
}

void PutSearch(const rollout::StepSettings& step, Keys* keys) {
  Put(keys, "search.strategy", step.strategy);
  if (step.strategy == "evolve") {
    const search::Layers& layers = step.evolve.layers;
    Put(keys, "evolve.trials", step.evolve.trials);
    Put(keys, "evolve.population", step.evolve.population);
    Put(keys, "evolve.offspring", step.evolve.offspring);
    Put(keys, "evolve.policy", static_cast<int>(step.evolve.policy));
    Put(keys, "evolve.layers",
        fmt::format("{:d}{:d}{:d}{:d}", layers.task, layers.solutions, layers.insights,
                    layers.knowledge));
    Put(keys, "evolve.insights", step.evolve.insights);
  }
  if (!step.probe) Put(keys, "rollout.probe", step.probe);
  Put(keys, "rollout.conversation", static_cast<int>(step.conversation));
  Put(keys, "rollout.rollouts", step.rollouts);
  Put(keys, "rollout.turns", step.turns);
  Put(keys, "rollout.iterations", step.iterations);
  Put(keys, "rollout.carried_turns", step.carried_turns);
  Put(keys, "rollout.window", static_cast<int>(step.window_rule));
  Put(keys, "rollout.window_metric", static_cast<int>(step.window_metric));
  Put(keys, "stop.roofline_share", step.stop.roofline_share);
  Put(keys, "stop.stagnant_turns", step.stop.stagnant_turns);
  Put(keys, "stop.min_gain", step.stop.min_gain);
  Put(keys, "stop.shared", step.stop.shared);
}

void PutJudge(const RunRecipe& recipe, Keys* keys) {
  const rollout::StepSettings& step = recipe.step;
  Put(keys, "judge.turn_protocol", step.turn_protocol);
  Put(keys, "judge.final_protocol", step.final_protocol);
  Put(keys, "judge.finalists", step.finalists);
  if (step.paid.best > 0) {
    Put(keys, "judge.paid_best", step.paid.best);
    Put(keys, "judge.paid_protocol", step.paid_protocol);
  }
  if (step.paid.audit_share > 0) {
    Put(keys, "judge.audit_share", step.paid.audit_share);
    Put(keys, "judge.audit_protocol", step.audit_protocol);
  }
  Put(keys, "judge.threads", recipe.judge.threads);
}

void PutLearning(const RunRecipe& recipe, Keys* keys) {
  const rollout::StepSettings& step = recipe.step;
  Put(keys, "skills.library", recipe.skills);
  Put(keys, "learn.enabled", step.learn);
  Put(keys, "learn.tasks_per_step", recipe.tasks_per_step);
  Put(keys, "trigger.min_gain", step.trigger.min_gain);
  Put(keys, "trigger.min_speedup", step.trigger.min_speedup);
  Put(keys, "trigger.require_first_correct", step.trigger.require_first_correct);
  Put(keys, "trigger.as_published", step.trigger.as_published);
  Put(keys, "summary.summaries", step.summaries);
  Put(keys, "summary.max_new_skills", step.max_new_skills);
  Put(keys, "verification.max_pairs", step.verification.admission.max_pairs);
  Put(keys, "verification.second_task", step.verification.second_task);
  Put(keys, "verification.repetitions", step.verification.repetitions);
  Put(keys, "verification.protocol", step.verification.protocol);
  Put(keys, "verification.min_uplift", step.verification.admission.min_uplift);
}

}  // namespace

std::map<std::string, std::string> Identity(const RunRecipe& recipe) {
  Keys keys;
  PutTask(recipe.step, &keys);
  PutModels(recipe, &keys);
  PutAgents(recipe.step, &keys);
  PutSearch(recipe.step, &keys);
  PutJudge(recipe, &keys);
  PutLearning(recipe, &keys);
  return keys;
}

}  // namespace davinci::runs
