#include "davinci/agent/policy_agent.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/agent/messages.h"
#include "davinci/llm/thinking.h"

namespace davinci::agent {
namespace {

Result<std::string> Contract(const PromptSet& prompts, const TaskBrief& task) {
  if (task.reply == ReplyForm::kFile)
    return prompts.Render(fmt::format("contract_{}", LanguageName(task.language)),
                          {{"class_name", task.class_name}});
  if (task.language != Language::kTriton || prompts.prelude() == nullptr)
    return InvalidArgument(fmt::format(
        "agents.reply = \"delta\" is for kernels in Triton{}; set it to \"file\"",
        prompts.prelude() == nullptr ? ", and python/davinci_runtime/prelude.py is missing" : ""));
  return prompts.Render("delta_triton", {{"class_name", task.class_name},
                                         {"base", task.is_function ? "nn.Module" : task.entry}});
}

}  // namespace

Result<PromptValues> TaskValues(const PromptSet& prompts, const TaskBrief& task,
                                const std::vector<skill::Skill>& skills) {
  const WorkedExample* example = prompts.Example(task.language, task.reply);
  if (example == nullptr)
    return Internal(fmt::format("no worked example for {}", LanguageName(task.language)));
  return PromptValues{
      {"language", std::string(LanguageTitle(task.language))},
      {"example_reference", WithoutTrailingNewlines(example->reference)},
      {"example_candidate", WithoutTrailingNewlines(example->candidate)},
      {"skills", WithoutTrailingNewlines(skill::RenderSkills(skills, task.language))},
      {"reference", WithoutTrailingNewlines(task.reference)},
      {"sizes", SizesText(task)},
      {"other_shapes", task.other_shapes ? "yes" : ""},
      {"class_name", task.class_name}};
}

Result<std::string> UserNotes(const PromptSet& prompts, const TaskBrief& task) {
  if (task.hints.empty() && task.start.empty() && task.floor.empty()) return std::string();
  DAVINCI_ASSIGN_OR_RETURN(
      const std::string notes,
      prompts.Render("user_notes", {{"hints", WithoutTrailingNewlines(task.hints)},
                                    {"start", WithoutTrailingNewlines(task.start)},
                                    {"start_measurement", task.start_measurement},
                                    {"floor", task.floor},
                                    {"class_name", task.class_name}}));
  return "\n\n" + notes;  // Render() strips blank ends
}

Result<Conversation> StartConversation(const PromptSet& prompts, const TaskBrief& task,
                                       const std::string& device,
                                       const std::vector<skill::Skill>& skills) {
  DAVINCI_RETURN_IF_ERROR(CheckLanguage(task));
  DAVINCI_ASSIGN_OR_RETURN(std::string contract, Contract(prompts, task));
  const std::string language(LanguageTitle(task.language));
  Conversation conversation;
  DAVINCI_ASSIGN_OR_RETURN(
      conversation.system,
      prompts.Render("policy_system", {{"language", language},
                                       {"contract", std::move(contract)},
                                       {"device", device},
                                       {"entry", task.entry},
                                       {"function", task.is_function ? "yes" : ""},
                                       {"class_name", task.class_name},
                                       {"precision", task.precision},
                                       {"delta", DeltaText(task)}}));
  DAVINCI_ASSIGN_OR_RETURN(PromptValues values, TaskValues(prompts, task, skills));
  values["delta"] = DeltaText(task);
  values["steps"] = WithoutTrailingNewlines(task.steps);
  values["plan"] = WithoutTrailingNewlines(task.plan);
  DAVINCI_ASSIGN_OR_RETURN(conversation.task, prompts.Render("policy_task", values));
  DAVINCI_ASSIGN_OR_RETURN(const std::string notes, UserNotes(prompts, task));
  conversation.task += notes;
  return conversation;
}

Result<llm::Request> BuildPolicyRequest(const Conversation& conversation, size_t max_prompt_tokens,
                                        int keep_turn, const TokenCounter& count) {
  DAVINCI_ASSIGN_OR_RETURN(const Conversation fitted,
                           FitConversation(conversation, max_prompt_tokens, keep_turn, count));
  llm::Request request;
  request.messages = {Says(llm::Role::kSystem, fitted.system), Says(llm::Role::kUser, fitted.task)};
  for (const Exchange& turn : fitted.turns) {
    request.messages.push_back(Says(llm::Role::kAssistant, turn.reply));
    request.messages.push_back(Says(llm::Role::kUser, turn.feedback));
  }
  return request;
}

std::string HistoryText(const llm::Reply& reply) { return llm::SplitThinking(reply.text).answer; }

Result<std::string> RenderNoCode(const PromptSet& prompts, const TaskBrief& task,
                                 const llm::Extraction& extraction, const Progress& progress) {
  return prompts.Render("no_code", {{"turn", std::to_string(progress.turn)},
                                    {"num_turns", std::to_string(progress.num_turns)},
                                    {"problem", extraction.diagnosis},
                                    {"best", BestText(progress)},
                                    {"class_name", task.class_name},
                                    {"delta", DeltaText(task)}});
}

}  // namespace davinci::agent
