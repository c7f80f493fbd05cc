#include "davinci/agent/summary_agent.h"

#include <fmt/format.h>

#include <array>

#include "davinci/agent/measurement_text.h"
#include "davinci/agent/messages.h"
#include "davinci/agent/proposal_check.h"
#include "davinci/data/shown_interval.h"

namespace davinci::agent {
namespace {

constexpr int kKernelRows = 5;

std::string Measurement(const Evaluation& evaluation) {
  if (evaluation.outcome != Outcome::kOk)
    return fmt::format("The candidate {}.", OutcomeText(evaluation.outcome));
  std::string text;
  for (const std::string& part :
       {TimingText(evaluation), CoverageText(evaluation), RooflineText(evaluation)}) {
    if (part.empty()) continue;
    text += (text.empty() ? "" : " ") + part;
  }
  if (const std::string kernels = KernelsText(evaluation, kKernelRows); !kernels.empty())
    text += "\n\n" + kernels;
  return text;
}

std::string Listed(const std::vector<skill::Skill>& skills) {
  std::string text;
  for (const skill::Skill& skill : skills)
    text += fmt::format("{}- `{}`: {}", text.empty() ? "" : "\n", skill.name, skill.description);
  return text;
}

std::string Gain(const Evaluation& first, const Evaluation& best) {
  if (!first.speedup || !best.speedup || !IsNarrow(Shown(*first.speedup)) ||
      !IsNarrow(Shown(*best.speedup)))
    return "";
  return fmt::format("{:.2f}", best.speedup->median / first.speedup->median);
}

}  // namespace

Result<llm::Request> BuildSummaryRequest(const PromptSet& prompts, const TaskBrief& task,
                                         const std::string& device,
                                         const std::vector<skill::Skill>& injected,
                                         const std::vector<skill::Skill>& existing,
                                         const SummarisedTurn& first, const SummarisedTurn& best,
                                         int max_skills) {
  DAVINCI_RETURN_IF_ERROR(CheckLanguage(task));
  const std::string cap = std::to_string(max_skills);
  const std::string language(LanguageTitle(task.language));
  DAVINCI_ASSIGN_OR_RETURN(
      std::string system,
      prompts.Render("summary_system", {{"max_skills", cap}, {"language", language}}));
  DAVINCI_ASSIGN_OR_RETURN(
      std::string user,
      prompts.Render(
          "summary_task",
          {{"language", language},
           {"device", device},
           {"reference", WithoutTrailingNewlines(task.reference)},
           {"sizes", SizesText(task)},
           {"skills", WithoutTrailingNewlines(skill::RenderSkills(injected, task.language))},
           {"existing", Listed(existing)},
           {"first_turn", std::to_string(first.turn)},
           {"first_measurement", Measurement(first.evaluation)},
           {"first_code", WithoutTrailingNewlines(first.code)},
           {"best_turn", std::to_string(best.turn)},
           {"best_measurement", Measurement(best.evaluation)},
           {"best_code", WithoutTrailingNewlines(best.code)},
           {"gain", Gain(first.evaluation, best.evaluation)},
           {"max_skills", cap}}));
  llm::Request request;
  request.messages = {Says(llm::Role::kSystem, std::move(system)),
                      Says(llm::Role::kUser, std::move(user))};
  request.tools = {llm::UpdateSkillLibraryTool(max_skills)};
  request.required_tool = llm::kUpdateSkillLibraryTool;
  return request;
}

SummaryReading ReadSummary(const llm::Reply& reply, int max_skills) {
  SummaryReading reading;
  const auto parsed = llm::ParseUpdateSkillLibrary(reply, max_skills);
  if (!parsed.ok()) {
    reading.error = parsed.error;
    reading.problem = parsed.message;
    return reading;
  }
  const llm::SkillProposals& update = parsed.value.value();
  reading.think = update.think;
  reading.dropped = update.rejected;
  for (const llm::ProposedSkill& proposed : update.skills) {
    ReadProposal proposal;
    proposal.skill.name = KebabCase(proposed.name);
    proposal.skill.description = proposed.description;
    proposal.skill.scope = proposed.scope;
    proposal.skill.tags = proposed.tags;
    proposal.skill.content = proposed.content;
    proposal.refused = CheckProposal(proposal.skill);
    reading.proposals.push_back(std::move(proposal));
  }
  return reading;
}

}  // namespace davinci::agent
