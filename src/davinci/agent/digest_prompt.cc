#include "davinci/agent/digest_prompt.h"

#include <fmt/format.h>

#include "davinci/agent/measurement_text.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/base/utf8.h"
#include "davinci/llm/thinking.h"

namespace davinci::agent {

Result<Conversation> StartDigest(const PromptSet& prompts, const TaskBrief& task,
                                 const std::string& device, const std::vector<skill::Skill>& skills,
                                 bool first_turn) {
  // System prompt and checks are those of every Policy conversation.
  DAVINCI_ASSIGN_OR_RETURN(Conversation conversation,
                           StartConversation(prompts, task, device, skills));
  DAVINCI_ASSIGN_OR_RETURN(PromptValues values, TaskValues(prompts, task, skills));
  if (!first_turn) values["example_reference"] = values["example_candidate"] = "";
  DAVINCI_ASSIGN_OR_RETURN(conversation.task, prompts.Render("kevin_task", values));
  DAVINCI_ASSIGN_OR_RETURN(const std::string notes, UserNotes(prompts, task));
  conversation.task += notes;
  return conversation;
}

std::string DigestText(const std::string& code, const std::string& summary) {
  std::string text;
  if (!code.empty()) text = fmt::format("```python\n{}\n```", code);
  if (!summary.empty()) text += (text.empty() ? "" : "\n\n") + summary;
  return text.empty() ? "(nothing that could be judged)" : text;
}

std::string SummaryOf(const llm::Reply& reply) {
  const std::string answer = llm::SplitThinking(reply.text).answer;
  const size_t fence = answer.rfind("```");
  if (fence == std::string::npos) return "";
  std::string summary = answer.substr(fence + 3);
  // The rest of the fence's own line is its language, when nothing closed the block.
  const size_t begin = summary.find_first_not_of(" \r\n\t");
  if (begin == std::string::npos) return "";
  summary = summary.substr(begin, summary.find_last_not_of(" \r\n\t") - begin + 1);
  return ElideMiddle(summary, kMaxSummaryBytes);
}

Result<std::string> RenderVerdict(const PromptSet& prompts, const TaskBrief& task,
                                  const Evaluation& evaluation, const Progress& progress,
                                  const FeedbackOptions& options) {
  const bool correct = evaluation.outcome == Outcome::kOk;
  const bool not_wrong = correct || evaluation.outcome == Outcome::kCompileOnly;
  return prompts.Render(
      "kevin_verdict",
      {{"turn", std::to_string(progress.turn)},
       {"num_turns", std::to_string(progress.num_turns)},
       {"correct", not_wrong ? "yes" : ""},
       {"outcome", OutcomeText(evaluation.outcome)},
       {"message", correct ? "" : ElideMiddle(evaluation.message, options.max_message_bytes)},
       {"timing", TimingText(evaluation)},
       {"class_name", task.class_name}});
}

}  // namespace davinci::agent
