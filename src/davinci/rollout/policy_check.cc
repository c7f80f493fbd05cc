#include "davinci/rollout/policy_check.h"

#include <fmt/format.h>

#include "davinci/agent/task_brief.h"
#include "davinci/data/turn_facts.h"

namespace davinci::rollout {
namespace {

void RefuseForWantOfAKernel(const StepSettings& settings, Evaluation* evaluation) {
  evaluation->AddLabel(std::string(kOnlyPyTorchLabel));
  evaluation->outcome = Outcome::kPolicyViolation;
  evaluation->speedup.reset();
  evaluation->message = fmt::format(
      "The candidate only calls PyTorch, and this task asks for a kernel of its own. "
      "Write the computation as a kernel in {}.",
      agent::LanguageTitle(settings.language));
  evaluation->evidence["policy"] = {{"rule", "own_kernel"}};
}

}  // namespace

std::optional<Evaluation> RefuseUnjudged(const StepSettings& settings, Language written_in) {
  Evaluation evaluation;
  if (settings.require_own_kernel && settings.turn_protocol == "staged" &&
      written_in == Language::kPython) {
    RefuseForWantOfAKernel(settings, &evaluation);
    return evaluation;
  }
  if (!settings.require_language || written_in == settings.language) return std::nullopt;
  evaluation.outcome = Outcome::kPolicyViolation;
  const std::string_view found = agent::LanguageTitle(written_in);
  evaluation.message = fmt::format(
      "The candidate {}, and this task asks for {}. Write the kernel in {}.",
      found.empty() ? "has no kernel of its own" : fmt::format("is written in {}", found),
      agent::LanguageTitle(settings.language), agent::LanguageTitle(settings.language));
  evaluation.evidence["policy"] = {{"rule", "language"},
                                   {"asked", LanguageName(settings.language)},
                                   {"found", LanguageName(written_in)}};
  return evaluation;
}

void ApplyPolicy(const StepSettings& settings, Language written_in, Evaluation* evaluation) {
  if (evaluation->outcome == Outcome::kJudgeError || !OnlyPyTorch(written_in, *evaluation)) return;
  evaluation->AddLabel(std::string(kOnlyPyTorchLabel));
  if (settings.require_own_kernel && evaluation->correct.value_or(false))
    RefuseForWantOfAKernel(settings, evaluation);
}

}  // namespace davinci::rollout
