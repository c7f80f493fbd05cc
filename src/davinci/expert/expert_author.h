// The expert as an author of rollouts: a rollout begins with one way to write a task's kernels, and
// a verdict that it is wrong or slow drops the rules that it blames (bisection.h).
//
// Tasks are traced and imported before the first kernel (Prepare). For a task that cannot be
// imported, or that no rule covers, the first turn says why (WhyNone).
//
// Threads: Prepare() once, then any number may call the rest.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "davinci/expert/expert.h"
#include "davinci/rollout/rule_author.h"

namespace davinci::expert {

// A function that traces the reference of a task (judge::JudgePool::Trace).
using Tracer = std::function<Result<nlohmann::json>(const std::shared_ptr<const task::Task>& task)>;

// How the ways to write a task's kernels are dealt out.
enum class Dealing {
  kOneEach,  // rollout r gets the r-th way, and ends when its kernel is fine
  kInTurn,   // one rollout tries them one after the other
};

class ExpertAuthor : public rollout::RuleAuthor {
 public:
  // `languages`: the first one's kernels first.
  ExpertAuthor(Expert expert, std::vector<Language> languages, Tracer tracer, Dealing dealing)
      : expert_(std::move(expert)),
        languages_(std::move(languages)),
        tracer_(std::move(tracer)),
        dealing_(dealing) {}

  // At most `most` ways for each task, by its id; several tasks at a time.
  void Prepare(const std::vector<std::pair<std::string, std::shared_ptr<const task::Task>>>& tasks,
               size_t most);
  // How many ways there are; 0: none, or the task is unknown.
  size_t NumVariants(const std::string& task) const;
  // Why a task has none.
  Status WhyNone(const std::string& task) const;

  bool Knows(const std::string& task) const override { return NumVariants(task) > 0; }
  std::optional<rollout::RuleKernel> Next(const RolloutId& rollout,
                                          const std::vector<Evaluation>& earlier) const override;

 private:
  struct Known {
    std::shared_ptr<const ExpertTask> task;
    std::vector<Variant> variants;
    Status status;  // why there are none
  };
  Known Look(const std::shared_ptr<const task::Task>& task, size_t most) const;

  const Expert expert_;
  const std::vector<Language> languages_;
  const Tracer tracer_;
  const Dealing dealing_;
  std::map<std::string, Known> tasks_;
};

}  // namespace davinci::expert
