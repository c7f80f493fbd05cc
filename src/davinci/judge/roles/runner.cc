#include "davinci/judge/roles/runner.h"

#include <string>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/judge/roles/run_call.h"
#include "davinci/judge/roles/runner_failure.h"
#include "davinci/judge/roles/runner_replies.h"

namespace davinci::judge {

Runner::Runner(std::shared_ptr<worker::Process> process, worker::BuildHandler build)
    : link_(std::move(process), std::move(build)) {}

std::optional<Failure> Runner::StartCalls() {
  if (const Status status = process().Freeze(); !status.ok())
    return FailureOf(process(), Unavailable(status.message()), Outcome::kRuntimeError, 0);
  frozen_ = true;
  cpu_when_frozen_ns_ = process().CpuNs();
  return std::nullopt;
}

from_runner::Forgot Runner::Forget(double timeout_seconds) {
  const Answer answer = AskFrozen(to_runner::Forget{}, timeout_seconds);
  reader_.Forget();
  link_.compiles().Forget();
  if (frozen_) (void)process().Thaw();
  frozen_ = false;
  return answer.failure ? from_runner::Forgot() : answer.ok.get<from_runner::Forgot>();
}

CallResult Runner::Call(const CallOptions& options) {
  armed_ = false;
  return RunCall(link_, reader_, cpu_when_frozen_ns_, options);
}

Answer Runner::AskFrozen(const to_runner::Request& request, double timeout_seconds,
                         std::span<const int> fds) {
  BeginFrozen(request, fds);
  return FinishFrozen(timeout_seconds);
}

void Runner::BeginFrozen(const to_runner::Request& request, std::span<const int> fds) {
  armed_ = OpOf(request) == to_runner::Arm::kOp;
  const std::string frame = worker::EncodeFrame(ToJson(request));
  // A stopped process reads nothing, so that a longer message would wait for it.
  const bool at_once = frame.size() <= kSentAtOnceBytes;
  if (at_once) link_.Send(frame, fds);
  if (frozen_) {
    cores_when_asked_ = process().ReadCoreTimes();
    own_wait_when_asked_ns_ = process().OwnCoreWaitNs();
  }
  asked_ns_ = MonotonicNs();
  if (frozen_) (void)process().Thaw();
  if (!at_once) link_.Send(frame, fds);
}

Answer Runner::FinishFrozen(double timeout_seconds) {
  Answer answer = link_.Await(timeout_seconds, Outcome::kRuntimeError);
  armed_ = armed_ && !answer.failure;
  answer.wall_ns = MonotonicNs() - asked_ns_;
  if (frozen_ && !process().WaitForDeath()) {
    (void)process().Freeze();
    answer.stopped_ns = MonotonicNs() - asked_ns_;  // a thread in the kernel works until it is left
    const worker::CoreTimes cores = process().ReadCoreTimes().Since(cores_when_asked_);
    answer.main_cpu_ns = cores.main_ran_ns;
    answer.others_ns = cores.OthersNs() + process().OwnCoreWaitNs() - own_wait_when_asked_ns_;
    answer.cpu_ns = process().CpuNs() - cpu_when_frozen_ns_;
    cpu_when_frozen_ns_ += answer.cpu_ns;
  }
  return answer;
}

Answer AskNow(Runner& runner, const to_runner::Request& request, double timeout_seconds,
              Outcome stage, std::span<const int> fds) {
  return runner.frozen() ? runner.AskFrozen(request, timeout_seconds, fds)
                         : runner.link().Ask(request, timeout_seconds, stage, fds);
}

}  // namespace davinci::judge
