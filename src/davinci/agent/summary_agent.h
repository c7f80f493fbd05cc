// The Summary agent: what made the best turn so much faster than the first, as skills for others?
//
// Request: system (role, form, what to avoid), user (task, injected skills, code and measurement of
// turn 1 and of the best turn), tool update_skill_library, required. Reply: proposals, each one
// acceptable or refused with a reason (proposal_check.h). Whether a skill helps is decided by an
// experiment (admission.h), whether it is new by the library. Sampling parameters and label are the
// caller's. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/agent/prompt_set.h"
#include "davinci/agent/task_brief.h"
#include "davinci/agent/trigger.h"
#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/llm/backbone.h"
#include "davinci/llm/tool_calls.h"
#include "davinci/skill/skill.h"

namespace davinci::agent {

inline constexpr int kMaxNewSkills = 2;

struct SummarisedTurn {
  int turn = 1;  // from 1
  std::string code;
  Evaluation evaluation;
};

// `existing`: skills of the library that are near the task; shown by name and description, so that
// none is proposed again, except as a better version under its name.
Result<llm::Request> BuildSummaryRequest(const PromptSet& prompts, const TaskBrief& task,
                                         const std::string& device,
                                         const std::vector<skill::Skill>& injected,
                                         const std::vector<skill::Skill>& existing,
                                         const SummarisedTurn& first, const SummarisedTurn& best,
                                         int max_skills = kMaxNewSkills);

struct ReadProposal {
  skill::Skill skill;   // name in kebab-case
  std::string refused;  // why it is not worth verifying; "" = it is
};

struct SummaryReading {
  std::vector<ReadProposal> proposals;      // at most max_skills, in the model's order
  std::optional<llm::ToolCallError> error;  // nothing: a legal call, maybe of no skill
  std::string problem;
  std::string think;
  std::vector<std::string> dropped;  // entries that were no skill at all, or too many
};

// Total: any reply gives a reading.
SummaryReading ReadSummary(const llm::Reply& reply, int max_skills = kMaxNewSkills);

}  // namespace davinci::agent
