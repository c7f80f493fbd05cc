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
#include "davinci/judge/protocol.h"
#include "davinci/judge/request.h"

namespace davinci::judge {

struct JudgeOptions {
  std::string python;          // interpreter with torch
  std::string python_path;     // folder with davinci_worker and davinci_runtime
  std::string worker_library;  // libdavinci_worker.so
  bool triton = false;         // import Triton before forking
  std::string device;  // cuda: uuid of the GPU; empty: the first that is visible; "none": no GPU
  int threads = 0;     // threads of reference and candidate; 0 = all cores on cpu, one on cuda
  bool unsafe_no_sandbox = false;  // run untrusted code although no isolation layer is available
  int compile_jobs = 0;            // parallel compilations; 0 = all cores
  // Evaluations at a time, where it is known that many will come: processes for the next ones are
  // then prepared from the first one on. 0: not known, so from the second one on.
  int in_flight = 0;
  // Limits instead of the protocol's; 0 = the protocol's, and of memory on cpu no more than
  // MemoryWithin() of this machine. What is changed is part of the provenance.
  double load_timeout_seconds = 0;
  double call_timeout_seconds = 0;
  double compile_timeout_seconds = 0;
  int64_t memory_bytes = 0;
  // Start Python at the first request that needs it, not at once: kept traces need none.
  bool start_when_needed = false;
  // Folder for a record of each trial (recorded_trial.h), which tests/transcripts replays; empty:
  // none. Recorded trials share no processes.
  std::string record_folder;
};

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

  // Task admission (guarantee 9): which wrong answers would pass? Tags of the task on this target.
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
