#include "davinci/rollout/judge_evaluator.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/hash.h"
#include "davinci/gpu/visible_devices.h"

namespace davinci::rollout {

namespace {
constexpr int kAttempts = 2;  // ours to repair, so ours to repeat once
}

std::string JudgeIdentityOf(const JudgeVersions& versions) {
  Sha256 hash;
  for (const std::string* field :
       {&versions.judge, &versions.libraries, &versions.driver, &versions.device})
    hash.Field(*field);
  return hash.FinishHex();
}

namespace {

// All that are visible: training and rollouts use the whole machine.
std::vector<std::string> Devices() {
  std::vector<std::string> uuids;
  for (const gpu::DeviceInfo& device : gpu::VisibleDevices(*gpu::DeviceMonitor::Create()))
    uuids.push_back(device.uuid);
  return uuids;
}

}  // namespace

JudgeEvaluator::JudgeEvaluator(judge::JudgeOptions options, std::string identity, TempDir scratch)
    : options_(std::move(options)),
      identity_(std::move(identity)),
      scratch_(std::move(scratch)),
      judges_(options_, Devices()) {}

Result<std::unique_ptr<JudgeEvaluator>> JudgeEvaluator::Create(judge::JudgeOptions options,
                                                               std::string identity) {
  DAVINCI_ASSIGN_OR_RETURN(TempDir scratch, MakeTempDir("davinci-candidates"));
  return std::unique_ptr<JudgeEvaluator>(
      new JudgeEvaluator(std::move(options), std::move(identity), std::move(scratch)));
}

Result<judge::Job> JudgeEvaluator::MakeJob(const Question& question) const {
  judge::Job job;
  job.reference_path = question.task_path;
  job.candidate_path = (scratch_.path() / (Sha256Hex(question.source) + ".py")).string();
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(job.candidate_path, question.source, Durability::kFastest));
  job.target = question.target;
  job.language = question.language;
  job.protocol = question.protocol;
  job.baseline = question.baseline;
  job.shapes = question.shapes;
  return job;
}

Result<Evaluation> JudgeEvaluator::Evaluate(const Question& question, const CancelToken& cancel) {
  DAVINCI_ASSIGN_OR_RETURN(const judge::Job job, MakeJob(question));
  for (int attempt = 1;; ++attempt) {
    if (cancel.stop_requested()) return Cancelled("stopped before the judgement began");
    auto evaluation = judges_.Evaluate(job);
    if (evaluation.ok() && evaluation->outcome != Outcome::kJudgeError) return evaluation;
    const Status failed = evaluation.ok() ? Internal(evaluation->message) : evaluation.status();
    const bool ours = failed.code() == StatusCode::kUnavailable ||
                      failed.code() == StatusCode::kInternal ||
                      failed.code() == StatusCode::kDeadlineExceeded;
    if (!ours || attempt >= kAttempts) return failed.Annotate("judging");
  }
}

Result<Evaluation> JudgeEvaluator::EvaluateAfresh(const Question& question,
                                                  const CancelToken& cancel) {
  if (cancel.stop_requested()) return Cancelled("stopped before the judgement began");
  DAVINCI_ASSIGN_OR_RETURN(const judge::Job job, MakeJob(question));
  DAVINCI_ASSIGN_OR_RETURN(auto judge, judge::Judge::Create(options_));
  auto evaluation = judge->Evaluate(job);
  if (evaluation.ok() && evaluation->outcome == Outcome::kJudgeError)
    return Internal(evaluation->message).Annotate("judging");
  return evaluation;
}

}  // namespace davinci::rollout
