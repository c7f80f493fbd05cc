#include "davinci/judge/trial/verdict.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "davinci/judge/request/baselines.h"

namespace davinci::judge {
Result<bool> Verdict(Trial& trial, Failure failure) {
  if (failure.outcome == Outcome::kJudgeError) return Internal(failure.message);
  // Where the user keeps the file, not where the judge keeps its copy.
  const std::string copy = trial.candidate.home.source_path().string();
  for (size_t at = 0; (at = failure.message.find(copy, at)) != std::string::npos;
       at += trial.job.candidate_path.size())
    failure.message.replace(at, copy.size(), trial.job.candidate_path);
  switch (failure.outcome) {  // said of what the candidate answered, in a check or a timed call
    case Outcome::kMismatch:
    case Outcome::kNondeterministic:
    case Outcome::kWrongShape:
    case Outcome::kWrongDtype:
      trial.report.evaluation.correct = false;
      break;
    default:
      break;
  }
  trial.report.failure = std::move(failure);
  return false;
}

Status ReferenceFailure(const Job& job, const Failure& failure) {
  std::string message =
      IsCompiled(job.baseline)
          ? fmt::format(
                "torch.compile cannot serve as baseline of {}: {}; neither this file nor the "
                "candidate need be at fault: --baseline eager does without it",
                job.task->path, failure.message)
          : fmt::format("{}: {}", job.task->path, failure.message);
  return failure.outcome == Outcome::kOutOfMemory &&
                 (job.target == Target::kCuda || job.compile_only)
             ? ResourceExhausted(std::move(message))
             : InvalidArgument(std::move(message));
}

std::optional<double> Plausible(Report* report, double said, double most, const char* member) {
  if (said >= 0 && said <= most) return said;
  report->evaluation.AddLabel(Label::kImplausibleReport, {member});
  return std::nullopt;
}

}  // namespace davinci::judge
