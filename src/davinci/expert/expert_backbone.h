// The expert in the place of a language model: rollout r of a task gets the r-th way to write its
// kernels. The judge chooses among them, as among anybody's.
//
// Tasks are traced and imported before the first call (Prepare). For a task that cannot be
// imported, or that no rule covers, the reply is one line that says why (WhyNone).
//
// Threads: Prepare() once, then any number may call Generate().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "davinci/expert/expert.h"
#include "davinci/llm/backbone.h"

namespace davinci::expert {

// What the reference of a task computes (judge::JudgePool::Trace).
using Tracer = std::function<Result<nlohmann::json>(const std::shared_ptr<const task::Task>& task)>;

class ExpertBackbone : public llm::Backbone {
 public:
  // `languages`: the first one's kernels first.
  ExpertBackbone(Expert expert, std::vector<Language> languages, Tracer tracer)
      : expert_(std::move(expert)), languages_(std::move(languages)), tracer_(std::move(tracer)) {}

  // At most `most` ways for each task, by its id; several tasks at a time.
  void Prepare(const std::vector<std::pair<std::string, std::shared_ptr<const task::Task>>>& tasks,
               size_t most);
  // How many ways there are; 0: none, or the task is unknown.
  size_t NumVariants(const std::string& task) const;
  // Why a task has none.
  Status WhyNone(const std::string& task) const;
  // The first of them; null: none.
  const Variant* Best(const std::string& task) const;
  // Calls that stay PyTorch's in it, and why; "" where there are none.
  std::string KeptCalls(const std::string& task) const;

  // The reply for the rollout that `request.label` names.
  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken& cancel) override;
  std::string Name() const override { return "the expert"; }

 private:
  struct Known {
    std::vector<Variant> variants;
    Status status;  // why there are none
  };
  Known Look(const std::shared_ptr<const task::Task>& task, size_t most) const;

  const Expert expert_;
  const std::vector<Language> languages_;
  const Tracer tracer_;
  std::map<std::string, Known> tasks_;
};

}  // namespace davinci::expert
