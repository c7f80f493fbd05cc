// Runner: the supervisor's hold on one candidate (or baseline) process. The process is hostile by
// assumption.
//
// Requests before the first call are ordinary (runner_link.h): the process runs freely while it
// imports and constructs. From StartCalls() on it is frozen except inside Call() and the requests
// between calls: nothing it does can lie outside the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "davinci/judge/roles/call.h"
#include "davinci/judge/roles/done_reader.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/roles/runner_link.h"
#include "davinci/judge/roles/runner_replies.h"
#include "davinci/judge/roles/runner_requests.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

class Runner {
 public:
  Runner(std::shared_ptr<worker::Process> process, worker::BuildHandler build);

  RunnerLink& link() { return link_; }
  worker::Process& process() { return link_.process(); }

  // Freezes the process for the first time.
  std::optional<Failure> StartCalls();
  // One forward, after a to_runner::Arm (or ArmWindow) prepared it off the clock, before its inputs
  // existed. The process is frozen before and after.
  CallResult Call(const CallOptions& options);
  // An ordinary request between calls: thaws, asks, freezes again.
  // BeginFrozen() and FinishFrozen() are its halves, for overlapping two runners.
  void BeginFrozen(const to_runner::Request& request, std::span<const int> fds = {});
  Answer FinishFrozen(double timeout_seconds);
  Answer AskFrozen(const to_runner::Request& request, double timeout_seconds,
                   std::span<const int> fds = {});
  // Between two modules: the process forgets the last one and runs freely again. It must not be
  // used again unless it is clean.
  from_runner::Forgot Forget(double timeout_seconds);
  bool frozen() const { return frozen_; }
  // Arming was answered and no Call() followed: the process reads nothing but GO.
  bool armed() const { return armed_; }

 private:
  RunnerLink link_;
  DoneReader reader_;
  bool frozen_ = false;
  bool armed_ = false;
  int64_t cpu_when_frozen_ns_ = 0;
  int64_t asked_ns_ = 0;
  worker::CoreTimes cores_when_asked_;
  int64_t own_wait_when_asked_ns_ = 0;
};

// Asks whether the process is frozen or not. `stage`: of RunnerLink::Ask().
Answer AskNow(Runner& runner, const to_runner::Request& request, double timeout_seconds,
              Outcome stage, std::span<const int> fds = {});

}  // namespace davinci::judge
