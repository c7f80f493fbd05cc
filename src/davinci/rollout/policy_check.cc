#include "davinci/rollout/policy_check.h"

#include <fmt/format.h>

#include "davinci/agent/task_brief.h"
#include "davinci/data/turn_facts.h"
#include "davinci/score/kevin_screen.h"

namespace davinci::rollout {
namespace {

void RefuseForWantOfAKernel(Language asked, Evaluation* evaluation) {
  evaluation->AddLabel(Label::kOnlyPyTorch);
  evaluation->outcome = Outcome::kPolicyViolation;
  evaluation->speedup.reset();
  evaluation->message = fmt::format(
      "The candidate only calls PyTorch, and this task asks for a kernel of its own. "
      "Write the computation as a kernel in {}.",
      agent::LanguageTitle(asked));
  evaluation->evidence["policy"] = {{"rule", RuleName(Rule::kOwnKernel)}};
}

std::optional<Evaluation> RefuseByStaticRules(const StepSettings& settings, std::string_view code) {
  if (settings.static_rules != StaticRules::kKevin) return std::nullopt;
  const auto word = score::KevinObjection(code);
  if (!word) return std::nullopt;
  Evaluation evaluation;
  evaluation.outcome = Outcome::kPolicyViolation;
  evaluation.message = fmt::format(
      "The source has `{}`. This task allows neither `try`, `except` and `pass` nor calls of "
      "torch.nn or torch.nn.functional in forward. Compute with kernels of your own.",
      *word);
  evaluation.evidence["policy"] = {{"rule", RuleName(Rule::kKevin)}, {"found", *word}};
  return evaluation;
}

}  // namespace

std::optional<Evaluation> RefuseUnjudged(const StepSettings& settings, Language asked,
                                         Language written_in, std::string_view code) {
  Evaluation evaluation;
  if (settings.require_own_kernel && settings.turn_protocol == "staged" &&
      written_in == Language::kPython) {
    RefuseForWantOfAKernel(asked, &evaluation);
    return evaluation;
  }
  if (!settings.require_language || written_in == asked) return RefuseByStaticRules(settings, code);
  evaluation.outcome = Outcome::kPolicyViolation;
  const std::string_view found = agent::LanguageTitle(written_in);
  evaluation.message = fmt::format(
      "The candidate {}, and this task asks for {}. Write the kernel in {}.",
      found.empty() ? "has no kernel of its own" : fmt::format("is written in {}", found),
      agent::LanguageTitle(asked), agent::LanguageTitle(asked));
  evaluation.evidence["policy"] = {{"rule", RuleName(Rule::kLanguage)},
                                   {"asked", LanguageName(asked)},
                                   {"found", LanguageName(written_in)}};
  return evaluation;
}

void ApplyPolicy(const StepSettings& settings, Language asked, Language written_in,
                 Evaluation* evaluation) {
  if (evaluation->outcome == Outcome::kJudgeError || !OnlyPyTorch(written_in, *evaluation)) return;
  evaluation->AddLabel(Label::kOnlyPyTorch);
  if (settings.require_own_kernel && evaluation->correct.value_or(false))
    RefuseForWantOfAKernel(asked, evaluation);
}

}  // namespace davinci::rollout
