#include "davinci/judge/trial/trial_session.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/judge/roles/runner_pool.h"
#include "davinci/judge/roles/sandbox_policies.h"
#include "davinci/judge/roles/session_pool.h"
#include "davinci/judge/trial/reference.h"
#include "davinci/judge/trial/task_admission.h"

namespace davinci::judge {
// Everything that makes the oracle's and the baseline's answers another.
std::string SessionKey(const Trial& trial) {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}", trial.task.hash, trial.task.path,
                     TargetName(trial.job.target), trial.protocol.published, trial.job.baseline,
                     trial.job.compile_only, trial.job.compile_only_try,
                     trial.protocol.device_connections, static_cast<int>(trial.budget));
}

// Whose processes could serve this task next. On the cpu a fork costs less than a doubt.
std::string HostKey(const Trial& trial) {
  const bool device = trial.job.target == Target::kCuda && !trial.job.compile_only;
  // A sandbox is made once, and shows one task's files.
  const bool has_files = !trial.task.imports.empty() || !trial.task.data.empty();
  if (!device || IsAlone(trial) || has_files || trial.job.baseline != "eager") return "";
  return fmt::format("cuda/{}", trial.protocol.device_connections);
}

Status StartOracle(Trial& trial, bool symbols) {
  worker::SpawnRequest request;
  request.role = "oracle";
  request.target = TargetName(trial.job.target);
  request.threads = trial.context.threads;
  request.scratch = (trial.session->work.path() / "oracle").string();
  DAVINCI_RETURN_IF_ERROR(MakeDirs(request.scratch));
  request.policy = RolePolicy(trial.context, trial.job.target, "oracle", request.scratch,
                              ReferenceFiles(trial.task), true);
  request.imports = trial.task.imports.names;
  if (trial.context.options.unsafe_no_sandbox) request.policy = nullptr;
  request.env = RoleEnvironment(request.scratch, 1);
  request.symbols = symbols;
  DAVINCI_ASSIGN_OR_RETURN(auto oracle, trial.context.server->Spawn(request));
  trial.session->oracle = std::make_unique<Oracle>(std::move(oracle), request.target);
  return Status::Ok();
}

Status StartSession(Trial& trial) {
  if (trial.session && !trial.session->key.empty() && !trial.session->Strip())
    trial.session.reset();
  const bool has_processes = trial.session != nullptr;
  if (!trial.session) trial.session = std::make_unique<Session>();
  trial.session->key = SessionKey(trial);
  trial.session->host = HostKey(trial);
  trial.session->facts.resize(1 + trial.task.config.variants.size());
  trial.session->init_seed =
      trial.protocol.published ? kPublishedSeed : trial.session->secret.Next() >> 1;
  if (has_processes) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(trial.session->work, MakeTempDir("davinci-session"));
  DAVINCI_RETURN_IF_ERROR(StartOracle(trial));
  trial.session->baseline.name = "baseline";
  trial.session->baseline.side = Side::kBaseline;
  DAVINCI_ASSIGN_OR_RETURN(
      trial.session->baseline.runner,
      SpawnRunner(trial.context, trial.job.target,
                  (trial.session->work.path() / "baseline").string(), ReferenceFiles(trial.task),
                  RunnerKind::kBaseline, trial.protocol.device_connections,
                  trial.task.imports.names));
  return Status::Ok();
}

Status TakeSession(Trial& trial, SessionClaim claim) {
  if (!claim.granted()) return Status::Ok();
  trial.claimed = true;
  trial.session = std::move(claim.session);
  if (trial.session && trial.session->key == SessionKey(trial)) return Status::Ok();
  return StartSession(trial);
}

void ReturnSession(Trial& trial, bool well) {
  trial.device.share.Release();
  if (trial.session) UseLaunch(trial, 0);  // whichever launch ended the trial
  const bool asserted = trial.session && trial.session->oracle && trial.session->oracle->asserted();
  // A pair ended between its two calls where the candidate failed in the first.
  const bool awaits_go =
      trial.session && trial.session->baseline.runner && trial.session->baseline.runner->armed();
  if (trial.session && (!well || asserted || awaits_go)) trial.session->spoilt = true;
  if (asserted && trial.context.facts != nullptr)
    (void)trial.context.facts->Put("domain", AdmissionKey(trial.context, trial.job),
                                   true);  // see ReferenceSpec()
  trial.candidate.home.runner = std::move(trial.candidate.timed.runner);
  if (trial.claimed)
    trial.context.sessions->Return(SessionKey(trial), std::move(trial.session),
                                   std::move(trial.candidate.home));
  trial.claimed = false;
}

}  // namespace davinci::judge
