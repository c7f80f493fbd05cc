#include "davinci/agent/evolution_prompt.h"

#include <fmt/format.h>

#include "davinci/agent/measurement_text.h"
#include "davinci/agent/messages.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/base/utf8.h"
#include "davinci/llm/thinking.h"

namespace davinci::agent {
namespace {

constexpr int kMaxKernelRows = 5;

std::string Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \r\t*_#");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \r\t*_") - begin + 1));
}

std::string KernelsShown(const std::vector<ShownKernel>& kernels, bool with_profile) {
  std::string text;
  for (const ShownKernel& kernel : kernels) {
    if (!text.empty()) text += "\n\n";
    text += fmt::format("```python\n{}\n```\n\nIt {}.", WithoutTrailingNewlines(kernel.code),
                        OutcomeText(kernel.evaluation->outcome));
    if (const std::string timing = TimingText(*kernel.evaluation); !timing.empty())
      text += " " + timing;
    if (!with_profile) continue;
    for (const std::string& part :
         {KernelsText(*kernel.evaluation, kMaxKernelRows), RooflineText(*kernel.evaluation)})
      if (!part.empty()) text += "\n\n" + part;
  }
  return text;
}

std::string InsightsShown(const std::vector<ShownInsight>& insights) {
  std::string text;
  for (const ShownInsight& insight : insights) {
    const Evaluation& evaluation = *insight.evaluation;
    const std::string came_of_it = evaluation.speedup
                                       ? TimesAsFast(*evaluation.speedup)
                                       : "the candidate " + OutcomeText(evaluation.outcome);
    text += fmt::format("{}- {} ({})", text.empty() ? "" : "\n", insight.text, came_of_it);
  }
  return text;
}

}  // namespace

Result<llm::Request> BuildEvolutionRequest(const PromptSet& prompts, const TaskBrief& task,
                                           const std::string& device,
                                           const EvolutionPrompt& evolution,
                                           size_t max_prompt_tokens, const TokenCounter& count) {
  DAVINCI_ASSIGN_OR_RETURN(Conversation conversation,
                           StartConversation(prompts, task, device, evolution.knowledge));
  DAVINCI_ASSIGN_OR_RETURN(PromptValues values, TaskValues(prompts, task, evolution.knowledge));
  values["mutation"] = evolution.mutation ? "yes" : "";
  values["crossover"] = evolution.crossover ? "yes" : "";
  values["solutions"] = KernelsShown(evolution.solutions, /*with_profile=*/false);
  values["best"] = KernelsShown(evolution.best, /*with_profile=*/true);
  values["insights"] = InsightsShown(evolution.insights);
  for (const char* dispensable : {"insights", "best", ""}) {
    DAVINCI_ASSIGN_OR_RETURN(conversation.task, prompts.Render("evolve_task", values));
    DAVINCI_ASSIGN_OR_RETURN(const std::string notes, UserNotes(prompts, task));
    conversation.task += notes;
    if (ConversationTokens(conversation, count) <= max_prompt_tokens) break;
    if (*dispensable == '\0')
      return FitConversation(conversation, max_prompt_tokens, -1, count).status();
    if (std::string_view(dispensable) == "best" && evolution.solutions.empty()) continue;
    values[dispensable] = "";
  }
  llm::Request request;
  request.messages = {Says(llm::Role::kSystem, conversation.system),
                      Says(llm::Role::kUser, conversation.task)};
  return request;
}

std::string InsightOf(const llm::Reply& reply) {
  const std::string answer = llm::SplitThinking(reply.text).answer;
  std::string first;
  std::string_view rest = std::string_view(answer).substr(0, answer.find("```"));
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string line = Trimmed(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    constexpr std::string_view kMark = "Insight";
    if (line.starts_with(kMark)) {
      const size_t colon = line.find(':');
      if (colon != std::string::npos && colon < kMark.size() + 3)
        return ElideMiddle(Trimmed(std::string_view(line).substr(colon + 1)), kMaxInsightBytes);
    }
    if (first.empty()) first = line;
  }
  return ElideMiddle(first, kMaxInsightBytes);
}

}  // namespace davinci::agent
