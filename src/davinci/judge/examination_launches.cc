// Several processes of baseline and candidate, timed by turns: what a process is born with (where
// its memory lies, above all) is sampled. Cpu only: on a device a process costs more than it tells.

#include <utility>

#include "davinci/judge/examination.h"

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

}  // namespace

bool Examination::MayLaunchMore() {
  if (trial_.job.target != Target::kCpu || trial_.protocol.launches < 2 || BaselineCompiles() ||
      trial_.session->spoilt || trial_.timing.baseline_seconds > kLongestCall ||
      trial_.clock.stage_seconds.value(kBuildingStage, 0.0) > kLongestLoad)
    return false;
  return trial_.session->baseline.runner->process().ResidentBytes() < kMostBytesOfLaunch &&
         trial_.candidate.timed.runner->process().ResidentBytes() < kMostBytesOfLaunch;
}

void Examination::UseLaunch(size_t launch) {
  if (launch == trial_.launches.current) return;
  trial_.launches.parked[trial_.launches.current] = {std::move(trial_.candidate.home),
                                                     std::move(trial_.session->baseline),
                                                     std::move(trial_.candidate.timed)};
  trial_.launches.current = launch;
  trial_.session->baseline = std::move(trial_.launches.parked[launch].baseline);
  trial_.candidate.timed = std::move(trial_.launches.parked[launch].candidate);
  trial_.candidate.home = std::move(trial_.launches.parked[launch].home);
}

std::vector<Timed*> Examination::TimedOf(Side side) {
  std::vector<Timed*> all = {side == Side::kBaseline ? &trial_.session->baseline
                                                     : &trial_.candidate.timed};
  for (Launch& parked : trial_.launches.parked) {
    Timed& timed = side == Side::kBaseline ? parked.baseline : parked.candidate;
    if (timed.runner) all.push_back(&timed);
  }
  return all;
}

Result<bool> Examination::LaunchMore() {
  if (!MayLaunchMore()) return true;
  trial_.launches.parked.resize(static_cast<size_t>(trial_.protocol.launches));
  for (size_t launch = 1; launch < trial_.launches.parked.size(); ++launch) {
    UseLaunch(launch);
    DAVINCI_ASSIGN_OR_RETURN(const bool started, StartLaunch(launch));
    if (trial_.report.failure) return false;
    if (started) continue;
    // What loaded once and not again says nothing about the answers: fewer launches are timed.
    UseLaunch(0);
    trial_.launches.parked.resize(launch);
    break;
  }
  // The weights that the others have by now.
  DAVINCI_ASSIGN_OR_RETURN(const auto failure, Reweigh());
  if (failure) return Verdict(*failure);
  for (size_t launch = 1; launch < trial_.launches.parked.size(); ++launch) {
    UseLaunch(launch);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, WarmLaunch());
    if (!go_on) return false;
  }
  UseLaunch(0);
  return true;
}

Result<bool> Examination::StartLaunch(size_t launch) {
  const std::string number = std::to_string(launch);
  Timed& baseline = trial_.session->baseline;
  baseline.name = "baseline " + number;
  baseline.side = Side::kBaseline;
  trial_.candidate.timed.name = "candidate " + number;
  trial_.candidate.timed.side = Side::kCandidate;
  DAVINCI_ASSIGN_OR_RETURN(
      baseline.runner, SpawnRunner(trial_.context, trial_.job.target,
                                   (trial_.session->work.path() / ("baseline" + number)).string(),
                                   ReferenceFiles(), RunnerKind::kBaseline,
                                   trial_.protocol.device_connections, trial_.task.imports.names));
  DAVINCI_RETURN_IF_ERROR(StartCandidate());
  baseline.runner->process().SetMemoryLimit(MemoryBytes());
  if (baseline.runner->AwaitReady(kReadyTimeoutSeconds)) return false;
  LoadBaseline();
  if (trial_.candidate.timed.runner->AwaitReady(kReadyTimeoutSeconds)) return false;
  PostCandidate();
  for (Timed* timed : {&baseline, &trial_.candidate.timed}) {
    if (timed->runner->Await(trial_.protocol.load_timeout_seconds, Outcome::kLoadError).failure)
      return false;
    DAVINCI_ASSIGN_OR_RETURN(const auto unbound, BindVariant(timed, 0));
    if (unbound) return false;
  }
  DAVINCI_ASSIGN_OR_RETURN(const bool locked, Lock());
  if (!locked) return false;
  return !baseline.runner->StartCalls() && !trial_.candidate.timed.runner->StartCalls();
}

Result<bool> Examination::WarmLaunch() {
  DAVINCI_ASSIGN_OR_RETURN(const bool go_on, MeasurePair(true, "task", false, nullptr));
  if (!go_on) return false;
  for (const Timed* timed : {&trial_.session->baseline, &trial_.candidate.timed})
    if (const Answer warmed = CallHot(*timed, kWarmSeconds, CallTimeout()); warmed.failure)
      return FailInPair(*timed, *warmed.failure);
  return true;
}

}  // namespace davinci::judge
