#include "davinci/judge/trial/candidate_process.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/files.h"
#include "davinci/judge/roles/runner_pool.h"
#include "davinci/judge/roles/shared_process.h"
#include "davinci/judge/trial/device_share.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kLockTimeoutSeconds = 10;
constexpr double kForgetTimeoutSeconds = 10;

std::optional<to_runner::CompileOnlyOptions> OptionsWithoutDevice(const Trial& trial) {
  if (!trial.job.compile_only) return std::nullopt;
  return to_runner::CompileOnlyOptions{trial.job.compile_only_arch,
                                       trial.protocol.interpreter_budget_seconds};
}

}  // namespace

// On the cpu target a fork costs less than a doubt.
bool SharesProcess(const Trial& trial) {
  const bool is_slow_to_start = trial.job.target == Target::kCuda || trial.job.compile_only;
  if (!trial.protocol.staged || !is_slow_to_start || trial.job.alone ||
      !trial.candidate.imports.visible.empty() || !trial.candidate.imports.names.empty())
    return false;
  if (!trial.candidate.text_may_share)
    trial.candidate.text_may_share =
        MayShareProcess(trial.job.candidate, InstalledPrelude(trial.context.options.python_path));
  return *trial.candidate.text_may_share;
}

void LetGoOfCandidate(Trial& trial, Evaluation* evaluation) {
  if (!trial.candidate.timed.runner || !trial.candidate.loaded) return;
  // The runner overwrites what it frees on the device, while nothing is timed there.
  if (trial.job.target == Target::kCuda && !ShareDevice(trial).ok()) return;
  json& process = evaluation->provenance["process"];
  process["served"] = trial.candidate.served;
  // A runner that lives and has said nothing wrong may serve the next candidate.
  Runner& runner = *trial.candidate.timed.runner;
  const from_runner::Forgot forgot = runner.process().WaitForDeath()
                                         ? from_runner::Forgot()
                                         : runner.Forget(kForgetTimeoutSeconds);
  const bool clean = forgot.clean && runner.process().OtherProcesses().empty();
  process["clean"] = clean;
  if (!clean || forgot.full || !WhyJudgedAlone(*evaluation).empty() ||
      trial.candidate.served + 1 >= kMostServed)
    return;
  trial.candidate.home.runner = std::move(trial.candidate.timed.runner);
  trial.candidate.home.served = trial.candidate.served + 1;
  trial.context.runner_pool->GiveBack(trial.job.target, trial.job.compile_only,
                                      trial.protocol.device_connections,
                                      std::move(trial.candidate.home));
}

Status StartCandidate(Trial& trial) {
  if (SharesProcess(trial)) {
    DAVINCI_ASSIGN_OR_RETURN(trial.candidate.home, trial.context.runner_pool->TakeShared(
                                                       trial.job.target, trial.job.compile_only,
                                                       trial.protocol.device_connections));
    trial.candidate.served = trial.candidate.home.served;
    trial.candidate.said_before = trial.candidate.home.runner->process().OutputBytes();
  } else {
    DAVINCI_ASSIGN_OR_RETURN(
        trial.candidate.home,
        trial.context.runner_pool->Take(
            trial.job.target, trial.job.compile_only, trial.protocol.device_connections,
            task::WithoutTask(trial.candidate.imports.visible, trial.task.files),
            trial.candidate.imports.names));
  }
  trial.candidate.timed.runner = std::move(trial.candidate.home.runner);
  trial.candidate.timed.runner->process().SetMemoryLimit(MemoryBytes(trial.job, trial.protocol));
  CompileLimits compiling;
  compiling.seconds = trial.protocol.compile_timeout_seconds;
  trial.candidate.timed.runner->link().compiles().set_limits(compiling);
  return WriteFileAtomic(trial.candidate.home.source_path(), trial.job.candidate,
                         Durability::kFastest);
}

void PostCandidate(Trial& trial) {
  trial.candidate.timed.runner->link().Post(
      to_runner::LoadCandidate{.path = trial.candidate.home.source_path().string(),
                               .entry = trial.task.candidate_entry,
                               .function = trial.task.candidate_function,
                               .imports = trial.candidate.imports,
                               .compile_only = OptionsWithoutDevice(trial),
                               .shared = SharesProcess(trial)});
}

const Answer& AwaitCandidate(Candidate* candidate, const Protocol& protocol) {
  if (!candidate->loaded)
    candidate->loaded =
        candidate->timed.runner->link().Await(protocol.load_timeout_seconds, Outcome::kLoadError);
  return *candidate->loaded;
}

// Triton compiles at the first call, with programs of its own, so a CUDA candidate is locked only
// after it was checked. What it may have left behind is found then.
Result<bool> LockEarly(Trial& trial) {
  if (trial.job.target == Target::kCpu) {
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, LockCandidate(trial));
    if (!go_on) return false;
  }
  if (auto failure = trial.candidate.timed.runner->StartCalls()) return Verdict(trial, *failure);
  return true;
}

Result<bool> LockLate(Trial& trial) {
  return trial.job.target == Target::kCpu ? Result<bool>(true) : LockCandidate(trial);
}

Result<bool> LockCandidate(Trial& trial) {
  Runner& runner = *trial.candidate.timed.runner;
  // A process that serves others compiles for them, too: helpers are then looked for after each
  // call.
  if (!trial.context.options.unsafe_no_sandbox && !SharesProcess(trial)) {
    // The baseline needs no lock: it is the reference. The candidate's lock is verified from
    // outside.
    const int before = runner.process().NumSeccompFilters();
    const Answer locked =
        AskNow(runner, to_runner::Lock{}, kLockTimeoutSeconds, Outcome::kRuntimeError);
    if (locked.failure) return Verdict(trial, *locked.failure);
    const int after = runner.process().NumSeccompFilters();
    if (before > 0 && after <= before) {
      return Verdict(trial,
                     Broken(Rule::kSandboxLock, "the candidate evaded the lock of its sandbox"));
    }
  }
  if (auto failure = HelperProcesses(trial.candidate)) return Verdict(trial, std::move(*failure));
  return true;
}

std::optional<Failure> HelperProcesses(const Candidate& candidate) {
  const auto others = candidate.timed.runner->process().OtherProcesses();
  if (others.empty()) return std::nullopt;
  return Broken(Rule::kHelperProcess,
                fmt::format("the candidate left {} process(es) running; helper processes are not "
                            "allowed when calls are timed",
                            others.size()));
}

}  // namespace davinci::judge
