// The Selection agent: which of the retrieved skills should the next rollouts be given?
//
// Request: system (role), user (language, device, reference, numbered candidates without their
// bodies), tool select_skills, required. Reply: an ordered scheme, restricted to what was shown,
// without repetitions, at most `max_skills`. Sampling parameters and label are the caller's. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/agent/prompt_set.h"
#include "davinci/agent/scheme.h"
#include "davinci/agent/task_brief.h"
#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"
#include "davinci/llm/tool_calls.h"
#include "davinci/skill/skill.h"

namespace davinci::agent {

inline constexpr int kMaxSelectedSkills = 3;
inline constexpr int kNumCandidates = 20;  // how many the library is asked for

// `device` is DescribeDevice()'s text; `candidates` in the library's order, best first.
// InvalidArgument without candidates: then there is nothing to ask.
Result<llm::Request> BuildSelectionRequest(const PromptSet& prompts, const TaskBrief& task,
                                           const std::string& device,
                                           const std::vector<skill::Skill>& candidates,
                                           int max_skills = kMaxSelectedSkills);

struct SelectionReading {
  Scheme scheme;                            // empty when nothing usable was chosen
  std::optional<llm::ToolCallError> error;  // nothing: the reply was a legal choice, maybe of none
  std::string problem;                      // of the error, one sentence
  std::string think;
  std::vector<std::string> unknown_names;  // asked for although not shown
  int num_dropped = 0;                     // repetitions and names over the cap
};

// Total: any reply gives a reading.
SelectionReading ReadSelection(const llm::Reply& reply, const std::vector<skill::Skill>& candidates,
                               int max_skills = kMaxSelectedSkills);

}  // namespace davinci::agent
