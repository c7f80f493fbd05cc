#include "davinci/agent/selection_agent.h"

#include <fmt/format.h>

#include "davinci/agent/messages.h"

namespace davinci::agent {
namespace {

std::vector<std::string> Names(const std::vector<skill::Skill>& skills) {
  std::vector<std::string> names;
  for (const skill::Skill& skill : skills) names.push_back(skill.name);
  return names;
}

std::string CandidateList(const std::vector<skill::Skill>& candidates) {
  std::string text;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const skill::Skill& skill = candidates[i];
    if (i > 0) text += '\n';
    text += fmt::format("{}. `{}` ({}; {})\n   {}", i + 1, skill.name, skill.scope,
                        fmt::join(skill.tags, ", "), skill.description);
  }
  return text;
}

}  // namespace

Result<llm::Request> BuildSelectionRequest(const PromptSet& prompts, const TaskBrief& task,
                                           const std::string& device,
                                           const std::vector<skill::Skill>& candidates,
                                           int max_skills) {
  if (candidates.empty()) return InvalidArgument("selection: there are no skills to choose from");
  DAVINCI_RETURN_IF_ERROR(CheckLanguage(task));
  const std::string cap = std::to_string(max_skills);
  DAVINCI_ASSIGN_OR_RETURN(std::string system,
                           prompts.Render("selection_system", {{"max_skills", cap}}));
  DAVINCI_ASSIGN_OR_RETURN(
      std::string user,
      prompts.Render("selection_task", {{"language", std::string(LanguageTitle(task.language))},
                                        {"device", device},
                                        {"reference", WithoutTrailingNewlines(task.reference)},
                                        {"sizes", SizesText(task)},
                                        {"candidates", CandidateList(candidates)},
                                        {"max_skills", cap}}));
  llm::Request request;
  request.messages = {Says(llm::Role::kSystem, std::move(system)),
                      Says(llm::Role::kUser, std::move(user))};
  request.tools = {llm::SelectSkillsTool(Names(candidates), max_skills)};
  request.required_tool = llm::kSelectSkillsTool;
  return request;
}

SelectionReading ReadSelection(const llm::Reply& reply, const std::vector<skill::Skill>& candidates,
                               int max_skills) {
  SelectionReading reading;
  const auto parsed = llm::ParseSelectSkills(reply, Names(candidates), max_skills);
  if (!parsed.ok()) {
    reading.error = parsed.error;
    reading.problem = parsed.message;
    return reading;
  }
  const llm::SkillSelection& chosen = parsed.value.value();
  for (const llm::SkillChoice& choice : chosen.choices)
    reading.scheme.skills.push_back(choice.name);
  reading.think = chosen.think;
  reading.unknown_names = chosen.unknown_names;
  reading.num_dropped = chosen.num_duplicates + chosen.num_over_cap;
  return reading;
}

}  // namespace davinci::agent
