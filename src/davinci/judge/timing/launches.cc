#include "davinci/judge/timing/launches.h"

#include <string>

#include "davinci/judge/check/calls.h"
#include "davinci/judge/check/reweigh.h"
#include "davinci/judge/roles/runner_pool.h"
#include "davinci/judge/timing/timed_calls.h"
#include "davinci/judge/trial/bind_variant.h"
#include "davinci/judge/trial/candidate_process.h"
#include "davinci/judge/trial/reference.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

// A launch costs what loading costs. Beyond these the spread between processes is assumed instead:
// seconds of loading and constructing, seconds of one call, and bytes that one more pair of
// processes may need. The first is what the judge waited for the candidate beyond the reference:
// what its process says of itself decides nothing.
constexpr double kLongestLoad = 0.3;
constexpr double kLongestCall = 0.1;
constexpr int64_t kMostBytesOfLaunch = int64_t{1} << 30;
// Calls by the process itself until it has all the memory it will use.
constexpr double kWarmSeconds = 0.01;

bool MayLaunchMore(Trial& trial) {
  if (trial.job.target != Target::kCpu || trial.protocol.launches < 2 ||
      BaselineCompiles(trial.job, *trial.session) || trial.session->spoilt ||
      trial.timing.baseline_seconds > kLongestCall ||
      trial.clock.stage_seconds.value(kBuildingStage, 0.0) > kLongestLoad)
    return false;
  return trial.session->baseline.runner->process().ResidentBytes() < kMostBytesOfLaunch &&
         trial.candidate.timed.runner->process().ResidentBytes() < kMostBytesOfLaunch;
}

// False: it did not load, or report.failure holds the verdict.
Result<bool> StartLaunch(Trial& trial, size_t launch) {
  const std::string number = std::to_string(launch);
  Timed& baseline = trial.session->baseline;
  baseline.name = "baseline " + number;
  baseline.side = Side::kBaseline;
  trial.candidate.timed.name = "candidate " + number;
  trial.candidate.timed.side = Side::kCandidate;
  DAVINCI_ASSIGN_OR_RETURN(
      baseline.runner, SpawnRunner(trial.context, trial.job.target,
                                   (trial.session->work.path() / ("baseline" + number)).string(),
                                   ReferenceFiles(trial.task), RunnerKind::kBaseline,
                                   trial.protocol.device_connections, trial.task.imports.names));
  DAVINCI_RETURN_IF_ERROR(StartCandidate(trial));
  baseline.runner->process().SetMemoryLimit(MemoryBytes(trial.job, trial.protocol));
  if (baseline.runner->link().AwaitReady(kReadyTimeoutSeconds)) return false;
  LoadBaseline(trial.job, trial.session.get());
  if (trial.candidate.timed.runner->link().AwaitReady(kReadyTimeoutSeconds)) return false;
  PostCandidate(trial);
  for (Timed* timed : {&baseline, &trial.candidate.timed}) {
    if (timed->runner->link()
            .Await(trial.protocol.load_timeout_seconds, Outcome::kLoadError)
            .failure)
      return false;
    DAVINCI_ASSIGN_OR_RETURN(const auto unbound, BindVariant(trial, timed, 0));
    if (unbound) return false;
  }
  DAVINCI_ASSIGN_OR_RETURN(const bool locked, LockCandidate(trial));
  if (!locked) return false;
  return !baseline.runner->StartCalls() && !trial.candidate.timed.runner->StartCalls();
}

Result<bool> WarmLaunch(Trial& trial) {
  DAVINCI_ASSIGN_OR_RETURN(const bool go_on, MeasurePair(trial, true, "task", false, nullptr));
  if (!go_on) return false;
  for (const Timed* timed : {&trial.session->baseline, &trial.candidate.timed})
    if (const Answer warmed = CallHot(trial.inputs, *timed, kWarmSeconds, CallTimeout(trial));
        warmed.failure)
      return FailInPair(trial, *timed, *warmed.failure);
  return true;
}

}  // namespace

Result<bool> LaunchMore(Trial& trial) {
  if (!MayLaunchMore(trial)) return true;
  trial.launches.parked.resize(static_cast<size_t>(trial.protocol.launches));
  for (size_t launch = 1; launch < trial.launches.parked.size(); ++launch) {
    UseLaunch(trial, launch);
    DAVINCI_ASSIGN_OR_RETURN(const bool started, StartLaunch(trial, launch));
    if (trial.report.failure) return false;
    if (started) continue;
    // What loaded once and not again says nothing about the answers: fewer launches are timed.
    UseLaunch(trial, 0);
    trial.launches.parked.resize(launch);
    break;
  }
  // The weights that the others have by now.
  DAVINCI_ASSIGN_OR_RETURN(const auto failure, Reweigh(trial));
  if (failure) return Verdict(trial, *failure);
  for (size_t launch = 1; launch < trial.launches.parked.size(); ++launch) {
    UseLaunch(trial, launch);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, WarmLaunch(trial));
    if (!go_on) return false;
  }
  UseLaunch(trial, 0);
  return true;
}

}  // namespace davinci::judge
