// Judge: decides whether a candidate kernel is correct and how much faster it is. The front header
// of this module.
//
// Inputs: a task (KernelBench layout) and the text of a candidate. Output: an Evaluation. Who needs
// verdicts asks an EvaluationService (service.h), which asks this. Three roles, one process each
// (ARCHITECTURE.md, "The judge"): the oracle owns the reference, seeds, inputs, truth and
// comparison; the runner holds the candidate and nothing else; the clock is this process. The
// verdict is assembled here, from what the oracle compared and the clock measured; nothing a runner
// says can improve it.
//
// Never: runs user code in this process, believes a runner, reports a number without its interval,
// blames a candidate for a failure of ours.
//
// Thread-safe: Evaluate() may be called from several threads; timing is exclusive per device,
// across processes too.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/request/judge_options.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/judge/request/request.h"

namespace davinci::judge {

enum class MemoryBudget;  // device_memory.h

class Judge {
 public:
  // Starts the fork server in the background (see start_when_needed); fails when the interpreter is
  // missing.
  static Result<std::unique_ptr<Judge>> Create(const JudgeOptions& options);
  ~Judge();

  // Judges one candidate, once. Bad input (broken task, reference that raises) is kInvalidArgument
  // or kNotFound with file, line and remedy; kUnavailable and kInternal are ours. The candidate's
  // own failures are Evaluations. On a device whose memory ran out, more of it is waited for
  // (provenance.attempts says how often).
  Result<Evaluation> Evaluate(const EvaluationRequest& request);

  // False once the fork server has ended: another Judge is needed.
  bool Alive();

  // Evaluations return before everything of them has ended: the candidate's process is torn down
  // and what serves the next candidate of the same task put to rest in the background. Settle()
  // waits for that; LetGo() also ends what rests (processes, device memory, scratch folders).
  void Settle();
  void LetGo();

  // Task admission: which wrong answers would pass? Tags of the task on this target.
  Result<nlohmann::json> Admit(const std::string& task_path, Target target);

  // What the task's reference computes, as calls of PyTorch at the target's sizes: the JSON that
  // import/traced_module.h reads, with one more of its kind for each further shape of the task in
  // "shapes". Found once per task, sizes and version of torch.
  Result<nlohmann::json> Trace(const std::shared_ptr<const task::Task>& task, Target target);

 private:
  struct Impl;
  explicit Judge(std::unique_ptr<Impl> impl);
  // `request` has one baseline.
  Result<Evaluation> EvaluateAgainst(const EvaluationRequest& request);
  // Judged again in a process of its own where a shared one leaves doubt.
  Result<Evaluation> EvaluateOnce(const EvaluationRequest& request, MemoryBudget budget);
  Result<Evaluation> EvaluateIn(const EvaluationRequest& request, MemoryBudget budget, bool alone);
  std::unique_ptr<Impl> impl_;
};

}  // namespace davinci::judge
