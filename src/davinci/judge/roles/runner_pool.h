// RunnerPool: runners for candidates that are not known yet.
//
// A runner is forked, sandboxed and, on cuda, given its context before the candidate arrives; that
// takes longer than the candidate itself. Runners are prepared in the background once it is known
// that more than one candidate comes (JudgeOptions::in_flight, or the second one): a single
// judgement would only be disturbed by them, and one at a time is not served by several prepared at
// once. On the cpu target none are kept: a fork is cheap there, and preparing one would take a core
// from the process being timed.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/data/language.h"
#include "davinci/judge/roles/judge_context.h"
#include "davinci/judge/roles/prewarmed_runner.h"
#include "davinci/judge/roles/runner.h"

namespace davinci::judge {

enum class RunnerKind { kCandidate, kCandidateCompileOnly, kBaseline };

// Forks a runner in its sandbox: `scratch` (created when missing) is its working directory,
// `readable` what it may read beside the system, `imports` modules that may be installed elsewhere
// (SpawnRequest::imports), `connections` its hardware queues on cuda
// (Protocol::device_connections). Not yet ready: call AwaitReady().
Result<std::unique_ptr<Runner>> SpawnRunner(const JudgeContext& context, Target target,
                                            const std::string& scratch,
                                            const std::vector<std::filesystem::path>& readable,
                                            RunnerKind kind, int connections,
                                            const std::vector<std::string>& imports = {});

class RunnerPool {
 public:
  // `context` must outlive this object.
  explicit RunnerPool(const JudgeContext* context);
  ~RunnerPool();

  // Prepared, or fresh when none is, or where it has to see more than the system: files and folders
  // `visible`, and what is installed under the names `imports`. Thread-safe.
  Result<PrewarmedRunner> Take(Target target, bool compile_only, int connections,
                               const std::vector<std::string>& visible = {},
                               const std::vector<std::string>& imports = {});
  // The same for a candidate that may share a process, which may have served others.
  Result<PrewarmedRunner> TakeShared(Target target, bool compile_only, int connections);
  // One that has let go of its candidate, for the next TakeShared() that asks for the same. As many
  // wait as candidates are judged at a time: those of a group end together.
  void GiveBack(Target target, bool compile_only, int connections, PrewarmedRunner runner);
  // Ends the prepared ones and those given back; no more are prepared until the next Take().
  void Clear();

 private:
  struct Used {
    std::tuple<Target, bool, int> kind;
    PrewarmedRunner runner;
  };
  Result<PrewarmedRunner> Make(Target target, RunnerKind kind, int connections,
                               const std::vector<std::string>& visible = {},
                               const std::vector<std::string>& imports = {}) const;
  void Prepare(const std::stop_token& stop);
  void Begin();  // mutex_ held; once

  const JudgeContext* context_;
  const size_t kept_;
  Mutex mutex_;
  std::condition_variable_any changed_;                           // with mutex_
  std::deque<PrewarmedRunner> ready_ DAVINCI_GUARDED_BY(mutex_);  // all with connections_
  std::deque<Used> used_ DAVINCI_GUARDED_BY(mutex_);  // the one given back last in front
  int connections_ DAVINCI_GUARDED_BY(mutex_) = 0;    // of the last caller
  int taken_ DAVINCI_GUARDED_BY(mutex_) = 0;
  int preparing_ DAVINCI_GUARDED_BY(mutex_) = 0;
  bool wanted_ DAVINCI_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;  // last: joined first
};

}  // namespace davinci::judge
