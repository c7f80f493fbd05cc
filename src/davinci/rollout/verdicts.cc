#include "davinci/rollout/verdicts.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/mutex.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

json BodyOf(const std::string& key, const Verdict& verdict) {
  return {{"question", key},
          {"evaluation", ToJson(verdict.evaluation)},
          {"judged_before", verdict.judged_before},
          {"queue_seconds", verdict.queue_seconds},
          {"judge_seconds", verdict.judge_seconds}};
}

Result<Verdict> VerdictFrom(const json& body) {
  Verdict verdict;
  try {
    DAVINCI_ASSIGN_OR_RETURN(verdict.evaluation, EvaluationFromJson(body.at("evaluation")));
    verdict.judged_before = body.at("judged_before").get<bool>();
    verdict.queue_seconds = body.at("queue_seconds").get<double>();
    verdict.judge_seconds = body.at("judge_seconds").get<double>();
  } catch (const json::exception& error) {
    return Internal(std::string("corrupt journal record (judgement): ") + error.what());
  }
  return verdict;
}

bool IsJudgement(std::string_view kind) {
  return kind == UnitKindName(UnitKind::kProbe) || kind == UnitKindName(UnitKind::kJudgement) ||
         kind == UnitKindName(UnitKind::kConfirmation) ||
         kind == UnitKindName(UnitKind::kPayment) || kind == UnitKindName(UnitKind::kSampleVerdict);
}

bool IsJudgeError(const json& body) {
  const auto evaluation = body.find("evaluation");
  return evaluation != body.end() && evaluation->is_object() &&
         evaluation->value("outcome", "") == OutcomeName(Outcome::kJudgeError);
}

}  // namespace

Verdicts::Verdicts(UnitLog* log, judge::EvaluationService* service)
    : log_(log), service_(service) {}

Status Verdicts::BeginStep(int step) {
  MutexLock lock(mutex_);
  known_.clear();
  return log_->run().ForEachIn(step, [&](const store::Unit& unit) DAVINCI_REQUIRES(mutex_) {
    if (!IsJudgement(unit.kind) || IsJudgeError(unit.body)) return true;
    const auto question = unit.body.find("question");
    if (question != unit.body.end() && question->is_string())
      if (const auto verdict = VerdictFrom(unit.body); verdict.ok() && !verdict->judged_before)
        Add(unit.id, verdict->evaluation, &known_[question->get<std::string>()]);
    return true;
  });
}

std::string Verdicts::SharedUnit(const std::string& key) {
  MutexLock lock(mutex_);
  const auto known = known_.find(key);
  return known != known_.end() && known->second.Shared() ? known->second.unit : "";
}

void Verdicts::Add(const std::string& unit, const Evaluation& evaluation, Known* known) {
  const bool noisy = evaluation.outcome == Outcome::kOk && evaluation.candidate_time &&
                     judge::IntervalWidth(evaluation) > judge::kWidestSharedInterval;
  const double width = noisy ? judge::IntervalWidth(evaluation) : 0;
  ++known->measurements;
  if (!known->unit.empty() && width >= known->width) return;
  known->unit = unit;
  known->width = width;
}

Result<judge::ServiceReply> Verdicts::Ask(const UnitId& id, const judge::EvaluationRequest& request,
                                          const CancelToken& cancel) {
  auto reply = service_->Evaluate(request, cancel);
  if (reply.ok()) {
    errors_in_a_row_ = 0;
    return reply;
  }
  const Status failed = std::move(reply).status();
  if (!judge::IsOurFailure(failed) || id.kind == UnitKind::kProbe) return failed;
  if (++errors_in_a_row_ >= kHopelessJudgeErrors)
    return FailedPrecondition(fmt::format("the judge failed {} times in a row, the last time: {}",
                                          kHopelessJudgeErrors, failed.message()));
  judge::ServiceReply error;
  error.evaluation.outcome = Outcome::kJudgeError;
  error.evaluation.message = failed.message();
  return error;
}

Result<Verdict> Verdicts::Judge(const UnitId& id, judge::EvaluationRequest request,
                                const CancelToken& cancel) {
  using Source = judge::ServiceReply::Source;
  DAVINCI_ASSIGN_OR_RETURN(const json body, log_->Find(id));
  if (!body.is_null()) {
    DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, VerdictFrom(body));
    verdict.from_journal = true;
    return verdict;
  }
  if (log_->replaying()) return Cancelled("the run that is replayed ends before this judgement");
  const std::string key = request.Hash();
  for (;;) {
    if (const std::string unit = SharedUnit(key); !unit.empty()) {
      DAVINCI_ASSIGN_OR_RETURN(const auto earlier, log_->run().Find(unit, SegmentOf(id)));
      if (!earlier) return Internal("the journal lost " + unit);
      DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, VerdictFrom(earlier->body));
      verdict.judged_before = true;
      verdict.queue_seconds = 0;
      verdict.judge_seconds = 0;
      DAVINCI_RETURN_IF_ERROR(log_->Record(id, BodyOf(key, verdict)));
      return verdict;
    }
    Verdict verdict;
    Status recorded;
    // The unit is in the journal before an identical request is answered, which then takes it over.
    request.on_judged = [&](const judge::ServiceReply& reply) {
      verdict.evaluation = reply.evaluation;
      verdict.judged_before = reply.source == Source::kCache;
      verdict.queue_seconds = reply.queue_seconds;
      verdict.judge_seconds = reply.judge_seconds;
      recorded = log_->Record(id, BodyOf(key, verdict));
      if (!recorded.ok() || reply.evaluation.outcome == Outcome::kJudgeError) return;
      MutexLock lock(mutex_);
      Add(id.ToString(), reply.evaluation, &known_[key]);
    };
    DAVINCI_ASSIGN_OR_RETURN(const auto reply, Ask(id, request, cancel));
    if (reply.evaluation.outcome == Outcome::kJudgeError) request.on_judged(reply);
    if (reply.source == Source::kIdentical) continue;
    DAVINCI_RETURN_IF_ERROR(recorded);
    return verdict;
  }
}

}  // namespace davinci::rollout
