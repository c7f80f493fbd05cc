#include "davinci/rollout/verdicts.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/hash.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

constexpr char kCacheSpace[] = "verdicts/1";
// A cached time must be worth having: upper over lower end of its interval at most this.
constexpr double kWidestCachedInterval = 1.25;

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
    return Internal(std::string("the journal holds a judgement that is none: ") + error.what());
  }
  return verdict;
}

bool IsJudgement(std::string_view kind) {
  return kind == UnitKindName(UnitKind::kProbe) || kind == UnitKindName(UnitKind::kJudgement) ||
         kind == UnitKindName(UnitKind::kConfirmation) ||
         kind == UnitKindName(UnitKind::kSampleVerdict);
}

bool IsJudgeError(const json& body) {
  const auto evaluation = body.find("evaluation");
  return evaluation != body.end() && evaluation->is_object() &&
         evaluation->value("outcome", "") == OutcomeName(Outcome::kJudgeError);
}

bool Repeats(const Evaluation& evaluation) {
  switch (evaluation.outcome) {
    case Outcome::kParseError:
    case Outcome::kCompileError:
    case Outcome::kLoadError:
    case Outcome::kWrongShape:
    case Outcome::kWrongDtype:
    case Outcome::kMismatch:
    case Outcome::kCheckedWithoutDevice:
      return true;
    case Outcome::kOk:
      return evaluation.speedup && evaluation.speedup->low > 0 &&
             std::isfinite(evaluation.speedup->high) &&
             evaluation.speedup->high <= kWidestCachedInterval * evaluation.speedup->low;
    default:
      return false;
  }
}

}  // namespace

Verdicts::Verdicts(UnitLog* log, Evaluator* evaluator, Lane* lane, store::KvCache* cache)
    : log_(log), evaluator_(evaluator), lane_(lane), cache_(cache) {}

Status Verdicts::BeginStep(int step) {
  std::lock_guard lock(mutex_);
  known_.clear();
  return log_->run().ForEachIn(step, [&](const store::Unit& unit) {
    if (!IsJudgement(unit.kind) || IsJudgeError(unit.body)) return true;
    const auto question = unit.body.find("question");
    if (question != unit.body.end() && question->is_string())
      known_.try_emplace(question->get<std::string>(), Known{false, unit.id});
    return true;
  });
}

Result<bool> Verdicts::Claim(const std::string& key, std::string* unit, const CancelToken& cancel) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto [entry, fresh] = known_.try_emplace(key, Known{true, ""});
    if (fresh) return true;
    if (!entry->second.running) {
      *unit = entry->second.unit;
      return false;
    }
    // The one who judges may fail, and then somebody else has to.
    settled_.wait(lock, cancel, [&] {
      const auto now = known_.find(key);
      return now == known_.end() || !now->second.running;
    });
    if (cancel.stop_requested()) return Cancelled("stopped while an identical kernel was judged");
  }
}

void Verdicts::Settle(const std::string& key, const std::string& unit) {
  {
    std::lock_guard lock(mutex_);
    if (unit.empty())
      known_.erase(key);
    else
      known_[key] = Known{false, unit};
  }
  settled_.notify_all();
}

Result<Evaluation> Verdicts::Ask(const UnitId& id, const Question& question,
                                 const CancelToken& cancel) {
  auto evaluation = evaluator_->Evaluate(question, cancel);
  if (evaluation.ok() && evaluation->outcome != Outcome::kJudgeError) {
    errors_in_a_row_ = 0;
    return evaluation;
  }
  const Status failed =
      evaluation.ok() ? Internal(evaluation->message) : std::move(evaluation).status();
  const bool ours = failed.code() == StatusCode::kUnavailable ||
                    failed.code() == StatusCode::kInternal ||
                    failed.code() == StatusCode::kDeadlineExceeded;
  if (!ours || id.kind == UnitKind::kProbe) return failed;
  if (++errors_in_a_row_ >= kHopelessJudgeErrors)
    return FailedPrecondition(fmt::format("the judge failed {} times in a row, the last time: {}",
                                          kHopelessJudgeErrors, failed.message()));
  Evaluation error;
  error.outcome = Outcome::kJudgeError;
  error.message = failed.message();
  return error;
}

std::optional<Evaluation> Verdicts::FromCache(const std::string& key) {
  if (cache_ == nullptr) return std::nullopt;
  const auto found =
      cache_->Get(kCacheSpace, Sha256().Field(key).Field(evaluator_->Identity()).FinishHex());
  if (!found.ok() || !*found) return std::nullopt;  // a cache that fails costs time, nothing else
  auto evaluation = EvaluationFromJson(**found);
  if (!evaluation.ok()) return std::nullopt;
  return std::move(evaluation).value();
}

void Verdicts::ToCache(const std::string& key, const Evaluation& evaluation) {
  if (cache_ == nullptr || !Repeats(evaluation)) return;
  (void)cache_->Put(kCacheSpace, Sha256().Field(key).Field(evaluator_->Identity()).FinishHex(),
                    ToJson(evaluation));
}

Result<Verdict> Verdicts::JudgeNow(const UnitId& id, const std::string& key,
                                   const Question& question, Urgency urgency, int64_t order,
                                   const CancelToken& cancel) {
  Verdict verdict;
  if (auto cached = FromCache(key)) {
    verdict.evaluation = *std::move(cached);
    verdict.judged_before = true;
  } else {
    DAVINCI_ASSIGN_OR_RETURN(const Lane::Place place, lane_->Enter(urgency, order, cancel));
    const Stopwatch watch;
    DAVINCI_ASSIGN_OR_RETURN(verdict.evaluation, Ask(id, question, cancel));
    verdict.queue_seconds = place.waited_seconds();
    verdict.judge_seconds = watch.Seconds();
    ToCache(key, verdict.evaluation);
  }
  DAVINCI_RETURN_IF_ERROR(log_->Record(id, BodyOf(key, verdict)));
  return verdict;
}

Result<Verdict> Verdicts::Judge(const UnitId& id, const Question& question, Urgency urgency,
                                int64_t order, const CancelToken& cancel) {
  DAVINCI_ASSIGN_OR_RETURN(const json body, log_->Find(id));
  if (!body.is_null()) {
    DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, VerdictFrom(body));
    verdict.from_journal = true;
    return verdict;
  }
  if (log_->replaying()) return Cancelled("the run that is replayed ends before this judgement");
  const std::string key = question.Hash();
  std::string unit;
  DAVINCI_ASSIGN_OR_RETURN(const bool mine, Claim(key, &unit, cancel));
  if (mine) {
    auto verdict = JudgeNow(id, key, question, urgency, order, cancel);
    const bool settled = verdict.ok() && verdict->evaluation.outcome != Outcome::kJudgeError;
    Settle(key, settled ? id.ToString() : "");
    return verdict;
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto earlier, log_->run().Find(unit, SegmentOf(id)));
  if (!earlier) return Internal("the journal lost " + unit);
  DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, VerdictFrom(earlier->body));
  verdict.judged_before = true;
  verdict.queue_seconds = 0;
  verdict.judge_seconds = 0;
  DAVINCI_RETURN_IF_ERROR(log_->Record(id, BodyOf(key, verdict)));
  return verdict;
}

}  // namespace davinci::rollout
