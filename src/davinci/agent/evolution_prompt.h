// Prompts of the strategy evolve: an operator on kernels, with the information layers that are
// switched on. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davinci/agent/conversation.h"
#include "davinci/agent/prompt_set.h"
#include "davinci/agent/task_brief.h"
#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/llm/backbone.h"
#include "davinci/skill/skill.h"

namespace davinci::agent {

struct ShownKernel {
  std::string code;
  const Evaluation* evaluation = nullptr;
};

struct ShownInsight {
  std::string text;
  const Evaluation* evaluation = nullptr;  // what came of it
};

struct EvolutionPrompt {
  bool mutation = false;  // neither: a first trial
  bool crossover = false;
  std::vector<skill::Skill> knowledge;  // I4
  std::vector<ShownKernel> best;        // I1: none or one
  std::vector<ShownKernel> solutions;   // I2
  std::vector<ShownInsight> insights;   // I3
};

// When it does not fit `max_prompt_tokens`, insights are left out first, then the best kernel where
// others are shown. InvalidArgument when that is not enough.
Result<llm::Request> BuildEvolutionRequest(const PromptSet& prompts, const TaskBrief& task,
                                           const std::string& device,
                                           const EvolutionPrompt& evolution,
                                           size_t max_prompt_tokens,
                                           const TokenCounter& count = llm::EstimateTokens);

// The line "Insight: …" of a reply, else the first line in front of its code; at most
// kMaxInsightBytes, without line breaks. Empty when there is neither.
inline constexpr size_t kMaxInsightBytes = 300;
std::string InsightOf(const llm::Reply& reply);

}  // namespace davinci::agent
