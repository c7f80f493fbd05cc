#include "davinci/judge/compile_only/blocked.h"

#include <fmt/format.h>

#include "davinci/base/utf8.h"
#include "davinci/judge/roles/runner_replies.h"
#include "davinci/judge/trial/candidate_process.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kReportTimeoutSeconds = 10;

// Failures that another size of the inputs might not lead to.
bool MayBeDueToSize(Outcome outcome) {
  return IsWrongAnswer(outcome) || outcome == Outcome::kRuntimeError ||
         outcome == Outcome::kLaunchError || outcome == Outcome::kLoadError ||
         outcome == Outcome::kCompileError;
}

// Returns whether the candidate's weights are other ones than the task's at these sizes, and the
// task has others on a device, which its file may hold.
bool IsForDeviceSizes(const Trial& trial) {
  return trial.report.evaluation.HasLabel(Label::kWeightsReseeded) &&
         trial.task.config.Globals(TargetName(Target::kCuda)) !=
             trial.task.config.Globals(TargetName(Target::kCpu));
}

}  // namespace

bool IsWrongAnswer(Outcome outcome) {
  return outcome == Outcome::kMismatch || outcome == Outcome::kNondeterministic ||
         outcome == Outcome::kWrongShape || outcome == Outcome::kWrongDtype;
}

json CompileOnlyReport(const Candidate& candidate, CompileOnlyState* state) {
  if (candidate.timed.runner && !candidate.timed.runner->process().WaitForDeath()) {
    const Answer answer = AskNow(*candidate.timed.runner, to_runner::CompileOnly{},
                                 kReportTimeoutSeconds, Outcome::kRuntimeError);
    if (!answer.failure && answer.ok.is_object()) state->report = answer.ok;
  }
  return state->report;
}

bool StoppedForWantOfDevice(Trial& trial, const Failure& failure, int variant) {
  // A variant changes some sizes, and has the others of the cpu.
  const bool own_size =
      !IsForDeviceSizes(trial) && (variant > 0 || ShrunkSizes(trial.session.get()) == nullptr);
  if (own_size && IsWrongAnswer(failure.outcome)) return false;
  if (failure.outcome == Outcome::kTimeout) {
    // Nothing is known about how long it would take on a device.
    trial.compile_only.blocked = {kTooSlow, failure.message};
    return true;
  }
  const auto report =
      CompileOnlyReport(trial.candidate, &trial.compile_only).get<from_runner::CompiledOnly>();
  const bool loaded = trial.candidate.loaded && !trial.candidate.loaded->failure;
  if (!report.blocked) {
    if (own_size || !loaded || !MayBeDueToSize(failure.outcome) || report.any_size) return false;
    trial.compile_only.blocked = {
        "it fails at sizes that are not the task's own",
        fmt::format("{}: {}", OutcomeName(failure.outcome), ElideMiddle(failure.message, 1000))};
    return true;
  }
  trial.compile_only.blocked = {ElideMiddle(report.blocked->reason, 100),
                                ElideMiddle(report.blocked->detail, 1000)};
  return true;
}

bool StoppedBySize(Session* session, CompileOnlyState* state, const Status& status) {
  if (session == nullptr || !session->oracle) return false;
  const bool not_its_own =
      ShrunkSizes(session) != nullptr && status.code() == StatusCode::kInvalidArgument;
  if (status.code() != StatusCode::kResourceExhausted && !not_its_own &&
      !session->oracle->process().WaitForDeath())
    return false;
  session->spoilt = true;
  state->blocked = {kNoReference, ElideMiddle(status.message(), 1000)};
  return true;
}

Result<bool> UnlessTooLarge(Trial& trial, Result<bool> step) {
  if (step.ok() || !StoppedBySize(trial.session.get(), &trial.compile_only, step.status()))
    return step;
  if (const Answer& loaded = AwaitCandidate(&trial.candidate, trial.protocol); loaded.failure)
    return Verdict(trial, *loaded.failure);
  return false;
}

}  // namespace davinci::judge
