// Prompts of the strategy kevin: every earlier turn as its kernel, its author's summary and one of
// five verdicts, without the reasoning. Pure.
#pragma once

#include <string>
#include <vector>

#include "davinci/agent/conversation.h"
#include "davinci/agent/feedback.h"
#include "davinci/agent/prompt_set.h"
#include "davinci/agent/task_brief.h"
#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/llm/backbone.h"
#include "davinci/skill/skill.h"

namespace davinci::agent {

// As StartConversation, with the worked example in the first turn only.
Result<Conversation> StartDigest(const PromptSet& prompts, const TaskBrief& task,
                                 const std::string& device, const std::vector<skill::Skill>& skills,
                                 bool first_turn);

// What of a reply a later turn sees: the kernel in a fenced block (nothing when there was none),
// and the summary.
std::string DigestText(const std::string& code, const std::string& summary);

// What the author wrote behind the last fenced block, outside of thinking; at most
// kMaxSummaryBytes. Empty when nothing stands there.
inline constexpr size_t kMaxSummaryBytes = 1200;
std::string SummaryOf(const llm::Reply& reply);

Result<std::string> RenderVerdict(const PromptSet& prompts, const TaskBrief& task,
                                  const Evaluation& evaluation, const Progress& progress,
                                  const FeedbackOptions& options = {});

}  // namespace davinci::agent
