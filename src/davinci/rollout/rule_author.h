// RuleAuthor: writes kernels by rules, without a model. Its rollouts stand among the model's: turns
// are units of the run, judged alike, and each turn reads what the judge said of the ones before.
//
// Implementations answer by their arguments alone: the run that was killed asks again and gets the
// same kernel. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/data/evaluation.h"
#include "davinci/data/rollout.h"

namespace davinci::rollout {

struct RuleKernel {
  std::string name;    // "best without split_rows"
  std::string source;  // "": there is no kernel, `name` says why
  std::vector<std::string> rules;
  std::vector<std::string> skills;  // of the library, that state the rules
  std::string kept;                 // calls that stay PyTorch's, with their reasons; "": none
};

class RuleAuthor {
 public:
  virtual ~RuleAuthor() = default;
  // Has it a kernel of its own for a task?
  virtual bool Knows(const std::string& task) const = 0;
  // The kernel of a rollout's next turn; `earlier`: the verdicts about its turns so far. Nothing:
  // no further kernel is worth a judgement. The first turn always has an answer.
  virtual std::optional<RuleKernel> Next(const RolloutId& rollout,
                                         const std::vector<Evaluation>& earlier) const = 0;
};

}  // namespace davinci::rollout
