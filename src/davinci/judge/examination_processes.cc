// Further processes of either side: what a process is born with (pages, addresses, cores) is
// sampled, not assumed. They start and load while the first of the candidate is checked, are bound
// and locked before anything is timed, and every timed output of theirs is compared as well.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "davinci/judge/examination.h"
#include "davinci/judge/sandbox_policies.h"
#include "davinci/judge/spares.h"

namespace davinci::judge {
namespace {

constexpr double kReadyTimeoutSeconds = 60;
// Input arenas and weights of all processes together, bytes: beyond it there are fewer processes.
// Large tasks run long, and what a process is born with averages out over many pages.
constexpr int64_t kMostBytes = int64_t{1} << 30;

}  // namespace

int Examination::NumProcesses() const {
  if (job_.target != Target::kCpu || job_.without_device || !session_ || !session_->facts[0])
    return 1;
  const VariantFacts& facts = *session_->facts[0];
  int64_t bytes = facts.slot_bytes * std::max(facts.num_slots, 1);
  for (const auto& item : facts.raw.at("state")) {
    OutputTensor tensor;
    tensor.shape = item.at("shape").get<std::vector<int64_t>>();
    bytes += NumElements(tensor) * ElementBytes(item.at("dtype").get<std::string>());
  }
  const int64_t affordable = kMostBytes / std::max<int64_t>(2 * bytes, 1);
  return static_cast<int>(std::clamp<int64_t>(affordable, 1, protocol_.processes));
}

Result<bool> Examination::BeginProcesses() {
  const auto wanted = static_cast<size_t>(NumProcesses() - 1);
  std::vector<Timed*> fresh;
  // Compiling a baseline takes far longer than it could tell.
  const bool more_baselines = job_.baseline == "eager";
  while (more_baselines && session_->more_baselines.size() < wanted) {
    const std::string name = fmt::format("baseline-{}", session_->more_baselines.size() + 1);
    auto baseline = std::make_unique<Timed>();
    baseline->name = name;
    baseline->side = Side::kBaseline;
    DAVINCI_ASSIGN_OR_RETURN(
        baseline->runner,
        SpawnRunner(workshop_, job_.target, (session_->work.path() / name).string(), {},
                    RunnerKind::kBaseline, protocol_.device_connections));
    baseline->runner->process().SetMemoryLimit(MemoryBytes());
    LoadBaseline(baseline->runner.get());
    fresh.push_back(baseline.get());
    session_->more_baselines.push_back(std::move(baseline));
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::string source, ReadFile(candidate_home_.source_path()));
  while (further_.size() < wanted) {
    auto further = std::make_unique<Further>();
    DAVINCI_ASSIGN_OR_RETURN(
        further->home, workshop_.spares->Take(job_.target, false, protocol_.device_connections));
    further->timed.name = fmt::format("candidate-{}", further_.size() + 1);
    further->timed.side = Side::kCandidate;
    further->timed.runner = std::move(further->home.runner);
    DAVINCI_RETURN_IF_ERROR(
        WriteFileAtomic(further->home.source_path(), source, Durability::kFastest));
    Runner& runner = *further->timed.runner;
    runner.process().SetMemoryLimit(MemoryBytes());
    CompileLimits compiling;
    compiling.seconds = protocol_.compile_timeout_seconds;
    runner.set_compile_limits(compiling);
    runner.Post(CandidateLoad(further->home));
    fresh.push_back(&further->timed);
    further_.push_back(std::move(further));
  }
  const double load_seconds = protocol_.load_timeout_seconds;
  if (!fresh.empty())
    loading_ = std::jthread([fresh, load_seconds] {
      for (Timed* timed : fresh) {
        timed->load_failure = timed->runner->AwaitReady(kReadyTimeoutSeconds);
        if (!timed->load_failure)
          timed->load_failure = timed->runner->Await(load_seconds, Outcome::kLoadError).failure;
      }
    });
  return true;
}

Result<bool> Examination::FinishProcesses() {
  if (loading_.joinable()) loading_.join();
  for (auto& baseline : session_->more_baselines) {
    if (baseline->built_variant == 0) continue;
    if (baseline->load_failure) return ReferenceFailure(*baseline->load_failure);
    DAVINCI_ASSIGN_OR_RETURN(const auto failure, BindVariant(baseline.get(), 0));
    if (failure) return ReferenceFailure(*failure);
    if (baseline->runner->frozen()) continue;
    if (auto stopped = baseline->runner->StartCalls()) return Internal(stopped->message);
  }
  for (size_t i = 0; i < further_.size(); ++i) {
    Timed& timed = further_[i]->timed;
    std::optional<Failure> failure = timed.load_failure;
    if (!failure) {
      DAVINCI_ASSIGN_OR_RETURN(failure, BindVariant(&timed, 0));
    }
    // What a busy machine may do to one that loaded before makes the interval wider, no more.
    if (failure &&
        (failure->outcome == Outcome::kTimeout || failure->outcome == Outcome::kOutOfMemory)) {
      further_.resize(i);
      break;
    }
    if (failure) {
      failure->message += " (in a further process of the candidate)";
      return Verdict(*failure);
    }
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, Lock(&timed));
    if (!go_on) return false;
    if (auto stopped = timed.runner->StartCalls()) return Verdict(*stopped);
  }
  evaluation_.evidence["processes"] = {{"baseline", NumBaselines()},
                                       {"candidate", NumCandidates()}};
  return true;
}

int Examination::NumBaselines() const {
  return 1 + (job_.target == Target::kCpu ? static_cast<int>(session_->more_baselines.size()) : 0);
}

int Examination::NumCandidates() const { return 1 + static_cast<int>(further_.size()); }

void Examination::UseProcesses(int turn) {
  const int baselines = NumBaselines();
  const int candidates = NumCandidates();
  baseline_process_ = turn % baselines;
  // Another partner in every round.
  candidate_process_ = (turn + turn / baselines) % candidates;
}

Timed& Examination::BaselineNow() {
  return baseline_process_ == 0
             ? session_->baseline
             : *session_->more_baselines[static_cast<size_t>(baseline_process_ - 1)];
}

Timed& Examination::CandidateNow() {
  return candidate_process_ == 0 ? candidate_
                                 : further_[static_cast<size_t>(candidate_process_ - 1)]->timed;
}

std::vector<Timed*> Examination::AllTimed() {
  std::vector<Timed*> all = {&session_->baseline};
  for (auto& baseline : session_->more_baselines)
    if (baseline->built_variant == 0) all.push_back(baseline.get());
  all.push_back(&candidate_);
  for (auto& further : further_)
    if (further->timed.built_variant == 0) all.push_back(&further->timed);
  return all;
}

std::vector<Spare> Examination::EndProcesses() {
  std::vector<Spare> ended;
  const bool loading = loading_.joinable();
  for (auto& further : further_)
    if (loading) further->timed.runner->process().Kill();
  if (loading && session_) {
    for (auto& baseline : session_->more_baselines)
      if (baseline->built_variant != 0) baseline->runner->process().Kill();
  }
  if (loading) loading_.join();
  for (auto& further : further_) {
    further->home.runner = std::move(further->timed.runner);
    ended.push_back(std::move(further->home));
  }
  further_.clear();
  if (session_)
    std::erase_if(session_->more_baselines, [](const auto& b) { return b->built_variant != 0; });
  return ended;
}

}  // namespace davinci::judge
