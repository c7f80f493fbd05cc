#include "davinci/judge/trial/start_roles.h"

#include <string>

#include "davinci/base/files.h"
#include "davinci/judge/machine/device_memory.h"
#include "davinci/judge/roles/runner_failure.h"
#include "davinci/judge/roles/runner_replies.h"
#include "davinci/judge/roles/session_pool.h"
#include "davinci/judge/trial/bind_variant.h"
#include "davinci/judge/trial/candidate_process.h"
#include "davinci/judge/trial/reference.h"
#include "davinci/judge/trial/trial_session.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
Result<bool> StartRoles(Trial& trial) {
  if (trial.job.target == Target::kCuda && !trial.job.compile_only) {
    DAVINCI_ASSIGN_OR_RETURN(trial.device.users,
                             JoinDeviceUsers(trial.context.leases, DeviceKey(trial), IsAlone(trial),
                                             trial.job.candidate_path));
    if (IsAlone(trial)) trial.context.sessions->Clear();
  }
  DAVINCI_RETURN_IF_ERROR(TakeSession(
      trial, trial.context.sessions->Claim(SessionKey(trial), HostKey(trial), ClaimWait::kNone)));
  // After the oracle and the baseline, before the first candidate: they load while this runs.
  if (trial.job.target == Target::kCuda || trial.job.compile_only) {
    const auto cache = CacheDir("triton");
    DAVINCI_RETURN_IF_ERROR(trial.context.server->Prewarm(cache.ok() ? cache->string() : "",
                                                          trial.job.compile_only_arch));
  }
  trial.candidate.imports = trial.task.imports;
  trial.candidate.imports.package.clear();
  if (trial.job.candidate_has_neighbours)
    trial.candidate.imports.Add(
        trial.context.machine->ImportsOf(trial.job.candidate, trial.job.candidate_path));
  trial.candidate.uses_triton = trial.job.candidate.find("triton") != std::string::npos;
  DAVINCI_RETURN_IF_ERROR(StartCandidate(trial));
  return true;
}

Result<bool> LoadReference(Trial& trial) {
  // The candidate imports and compiles while the oracle works out what is right.
  bool fresh = trial.session && !trial.session->ready;
  if (fresh) DAVINCI_RETURN_IF_ERROR(BeginReference(trial));
  if (auto failure = trial.candidate.timed.runner->link().AwaitReady(kReadyTimeoutSeconds))
    return Verdict(trial, *failure);
  PostCandidate(trial);
  if (!trial.session) {  // the candidate loads while we wait for processes
    DAVINCI_RETURN_IF_ERROR(TakeSession(
        trial, trial.context.sessions->Claim(SessionKey(trial), HostKey(trial), ClaimWait::kSoon)));
    fresh = trial.session && !trial.session->ready;
    if (fresh) DAVINCI_RETURN_IF_ERROR(BeginReference(trial));
  }
  if (!fresh) return true;
  const Status finished = FinishReference(trial);
  if (!trial.session->ready && trial.candidate.loaded &&
      trial.candidate.loaded->failure) {  // nothing was waited for any longer
    trial.session->spoilt = true;
    return Verdict(trial, *trial.candidate.loaded->failure);
  }
  DAVINCI_RETURN_IF_ERROR(finished);
  return true;
}

Result<bool> LoadCandidate(Trial& trial) {
  const Answer& loaded = AwaitCandidate(&trial.candidate, trial.protocol);
  if (loaded.failure) return Verdict(trial, *loaded.failure);
  const double longest =
      LongestWait(trial.protocol.load_timeout_seconds) + trial.protocol.compile_timeout_seconds;
  if (const auto said = Plausible(&trial.report, loaded.ok.get<from_runner::Loaded>().seconds,
                                  longest, "times.import_ms"))
    trial.report.evaluation.times["import_ms"] = 1e3 * *said;
  if (!trial.session) {  // all were busy when we came
    DAVINCI_RETURN_IF_ERROR(TakeSession(
        trial,
        trial.context.sessions->Claim(SessionKey(trial), HostKey(trial), ClaimWait::kGranted)));
    if (!trial.session->ready) {
      DAVINCI_RETURN_IF_ERROR(BeginReference(trial));
      DAVINCI_RETURN_IF_ERROR(FinishReference(trial));
    }
  }
  trial.report.evaluation.times["session_uses"] = trial.session->uses;
  if (trial.session->tasks > 0)
    trial.report.evaluation.times["session_tasks"] = trial.session->tasks;
  DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(trial, &trial.candidate.timed, 0));
  if (failure) return Verdict(trial, *failure);
  return true;
}

}  // namespace davinci::judge
