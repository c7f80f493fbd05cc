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
  if (job_.target != Target::kCpu || protocol_.launches < 2 || BaselineCompiles() ||
      session_->spoilt || baseline_seconds_ > kLongestCall ||
      stage_seconds_.value(kBuildingStage, 0.0) > kLongestLoad)
    return false;
  return session_->baseline.runner->process().ResidentBytes() < kMostBytesOfLaunch &&
         candidate_.runner->process().ResidentBytes() < kMostBytesOfLaunch;
}

void Examination::UseLaunch(size_t launch) {
  if (launch == launch_) return;
  launches_[launch_] = {std::move(candidate_home_), std::move(session_->baseline),
                        std::move(candidate_)};
  launch_ = launch;
  session_->baseline = std::move(launches_[launch].baseline);
  candidate_ = std::move(launches_[launch].candidate);
  candidate_home_ = std::move(launches_[launch].home);
}

std::vector<Timed*> Examination::TimedOf(Side side) {
  std::vector<Timed*> all = {side == Side::kBaseline ? &session_->baseline : &candidate_};
  for (Launch& parked : launches_) {
    Timed& timed = side == Side::kBaseline ? parked.baseline : parked.candidate;
    if (timed.runner) all.push_back(&timed);
  }
  return all;
}

Result<bool> Examination::LaunchMore() {
  if (!MayLaunchMore()) return true;
  launches_.resize(static_cast<size_t>(protocol_.launches));
  for (size_t launch = 1; launch < launches_.size(); ++launch) {
    UseLaunch(launch);
    DAVINCI_ASSIGN_OR_RETURN(const bool started, StartLaunch(launch));
    if (failure_) return false;
    if (started) continue;
    // What loaded once and not again says nothing about the answers: fewer launches are timed.
    UseLaunch(0);
    launches_.resize(launch);
    break;
  }
  // The weights that the others have by now.
  DAVINCI_ASSIGN_OR_RETURN(const auto failure, Reweigh());
  if (failure) return Verdict(*failure);
  for (size_t launch = 1; launch < launches_.size(); ++launch) {
    UseLaunch(launch);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, WarmLaunch());
    if (!go_on) return false;
  }
  UseLaunch(0);
  return true;
}

Result<bool> Examination::StartLaunch(size_t launch) {
  const std::string number = std::to_string(launch);
  Timed& baseline = session_->baseline;
  baseline.name = "baseline " + number;
  baseline.side = Side::kBaseline;
  candidate_.name = "candidate " + number;
  candidate_.side = Side::kCandidate;
  DAVINCI_ASSIGN_OR_RETURN(
      baseline.runner,
      SpawnRunner(context_, job_.target, (session_->work.path() / ("baseline" + number)).string(),
                  ReferenceFiles(), RunnerKind::kBaseline, protocol_.device_connections,
                  task_.imports.names));
  DAVINCI_RETURN_IF_ERROR(StartCandidate());
  baseline.runner->process().SetMemoryLimit(MemoryBytes());
  if (baseline.runner->AwaitReady(kReadyTimeoutSeconds)) return false;
  LoadBaseline();
  if (candidate_.runner->AwaitReady(kReadyTimeoutSeconds)) return false;
  PostCandidate();
  for (Timed* timed : {&baseline, &candidate_}) {
    if (timed->runner->Await(protocol_.load_timeout_seconds, Outcome::kLoadError).failure)
      return false;
    DAVINCI_ASSIGN_OR_RETURN(const auto unbound, BindVariant(timed, 0));
    if (unbound) return false;
  }
  DAVINCI_ASSIGN_OR_RETURN(const bool locked, Lock());
  if (!locked) return false;
  return !baseline.runner->StartCalls() && !candidate_.runner->StartCalls();
}

Result<bool> Examination::WarmLaunch() {
  DAVINCI_ASSIGN_OR_RETURN(const bool go_on, MeasurePair(true, "task", false, nullptr));
  if (!go_on) return false;
  for (const Timed* timed : {&session_->baseline, &candidate_})
    if (const Answer warmed = CallHot(*timed, kWarmSeconds, CallTimeout()); warmed.failure)
      return FailInPair(*timed, *warmed.failure);
  return true;
}

}  // namespace davinci::judge
