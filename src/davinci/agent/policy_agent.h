// The Policy agent: writes candidates, turn by turn, and hears what the judge said.
//
//   conversation = StartConversation(…)              system: role, contract, device
//                                                    user: example, skills, reference
//   loop: request = BuildPolicyRequest(conversation, budget)
//         extraction = llm::ExtractCode(reply, task.class_name)
//         feedback = RenderFeedback(evaluation) or RenderNoCode(extraction)
//         conversation.turns.push_back({HistoryText(reply), feedback})
//
// Sampling parameters and label of the request are the caller's. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davinci/agent/conversation.h"
#include "davinci/agent/feedback.h"
#include "davinci/agent/prompt_set.h"
#include "davinci/agent/task_brief.h"
#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"
#include "davinci/llm/code_extraction.h"
#include "davinci/skill/skill.h"

namespace davinci::agent {

// Hints and the kernel to start from, to be put behind the task's message; "" without either.
Result<std::string> UserNotes(const PromptSet& prompts, const TaskBrief& task);

// `skills` in the order of the scheme, none under the null scheme; `device` is DescribeDevice()'s
// text. InvalidArgument for a language that candidates are not written in, or one that does not run
// on the task's target.
Result<Conversation> StartConversation(const PromptSet& prompts, const TaskBrief& task,
                                       const std::string& device,
                                       const std::vector<skill::Skill>& skills);

// What every prompt says about the task: language, worked example, skills, reference, sizes, class.
Result<PromptValues> TaskValues(const PromptSet& prompts, const TaskBrief& task,
                                const std::vector<skill::Skill>& skills);

// `max_prompt_tokens`, `keep_turn` and `count` as FitConversation.
Result<llm::Request> BuildPolicyRequest(const Conversation& conversation, size_t max_prompt_tokens,
                                        int keep_turn = -1,
                                        const TokenCounter& count = llm::EstimateTokens);

// What of a reply stays in the conversation: the text without thinking sections, which no later
// turn should be charged for.
std::string HistoryText(const llm::Reply& reply);

// The answer to a reply in which no candidate was found; the extraction's diagnosis says why.
Result<std::string> RenderNoCode(const PromptSet& prompts, const TaskBrief& task,
                                 const llm::Extraction& extraction, const Progress& progress);

}  // namespace davinci::agent
