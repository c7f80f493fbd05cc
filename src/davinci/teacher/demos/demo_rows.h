// Rows of supervised fine-tuning from judged demonstrations: what each of the three agents would
// have been asked, by the project's prompts, and what the teacher answers. Pure.
//
// | row       | prompt                                                       | reply             |
// |-----------|--------------------------------------------------------------|-------------------|
// | policy    | task and the skills of the best attempt                      | the best attempt  |
// | repair    | the same or no skills, an earlier reply that is wrong,       | the best attempt  |
// |           | slower, or has no code, and the feedback on it               |                   |
// | kept      | task, skills, the best attempt and the feedback on it        | the best attempt  |
// | selection | task, skills that retrieval finds                            | those that help   |
// | summary   | two attempts with their measurements, skills near the task   | the skill between |
//
// A row whose verdicts were found without a device says so (Origin::verdict). An attempt that the
// judge could not decide about gives no row.
//
// Only significant measurements count. A best attempt that was timed and is not significantly
// faster than PyTorch gives no row; selection and summary rows, and repairs of slow attempts, need
// a gain whose 95 % interval lies above 1.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/agent/prompt_set.h"
#include "davinci/agent/sound_kernels.h"
#include "davinci/agent/task_brief.h"
#include "davinci/data/evaluation.h"
#include "davinci/llm/token_count.h"
#include "davinci/sftdata/row.h"
#include "davinci/skill/skill.h"

namespace davinci::teacher {

struct Attempt {
  std::string id;
  std::string source;
  std::vector<std::string> skills, rules;
  std::string mutation;  // the mistake that was put into it (mutation.h), "reply", or ""
  Evaluation evaluation;
  std::string code = {};   // of the reply, where it is not the file `source` (delta replies)
  std::string reply = {};  // a model's reply as it stands in a conversation; else `code` in a fence
  std::vector<agent::LeftOut> left_out = {};  // what `source` lacks of `code`
};

struct Demonstration {
  agent::TaskBrief brief;
  std::string family, split;
  std::string device;             // DescribeDevice()'s text
  std::vector<Attempt> attempts;  // of one language; the last is the best
  // Skills that retrieval finds for the task, best first: what a Selection agent is shown
  // (rollout/schemes.cc). Without any there is no row of the selection.
  std::vector<std::string> found;
};

struct RowLimits {
  size_t policy_tokens = 3500;     // of a prompt: messages and tools
  size_t selection_tokens = 2500;  // likewise
  // Share of repairs whose prompt shows no skills, as half of the rollouts do; one that is too long
  // with them shows none either.
  double bare_repairs = 0.5;
  // Tokens of a text: by the tokenizer of the model that is trained, else an estimate.
  std::function<int64_t(std::string_view)> count_tokens = llm::EstimateTokens;
  size_t max_skills = 2;  // in a prompt of the policy
  int selected = 3;       // at most, by a selection: selection.select of rollouts
  double min_gain = 1.1;  // of the best attempt over the other, by the medians
  // Gains are measured for each skill in the language; a selection names those of more gain first.
  std::map<std::string, double> gains = {};
};

struct DemoRows {
  std::vector<sftdata::Row> rows;
  std::map<std::string, size_t> left_out;  // why no row was made
};

// Tokens of a row's messages but the last, and of its tools.
int64_t PromptTokens(const sftdata::Row& row, const RowLimits& limits);

// More gain first, then by name; what is not in `gains` has none.
void OrderByGain(const std::map<std::string, double>& gains, std::vector<std::string>* skills);

// A selection of `most` skills as rollouts ask it, with `chosen` of `shown` as the answer; none is
// an answer, too.
Result<sftdata::Row> SelectionRow(const agent::PromptSet& prompts, const agent::TaskBrief& brief,
                                  const std::string& device, const std::vector<skill::Skill>& shown,
                                  const std::vector<std::string>& chosen, int most);

// `library` by name; skills that it lacks are an error.
Result<DemoRows> RowsOf(const agent::PromptSet& prompts, const Demonstration& demonstration,
                        const std::map<std::string, skill::Skill>& library,
                        const RowLimits& limits = {});

}  // namespace davinci::teacher
