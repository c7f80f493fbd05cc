#include "davinci/rollout/verdicts.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/hash.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

constexpr char kCacheSpace[] = "verdicts/1";
// A time that is shared must be worth having: upper over lower end of its interval at most this.
constexpr double kWidestSharedInterval = 1.25;

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
         kind == UnitKindName(UnitKind::kSampleVerdict);
}

bool IsJudgeError(const json& body) {
  const auto evaluation = body.find("evaluation");
  return evaluation != body.end() && evaluation->is_object() &&
         evaluation->value("outcome", "") == OutcomeName(Outcome::kJudgeError);
}

// Upper over lower end of the speedup's interval; infinite where nothing bounds it.
double Width(const Evaluation& evaluation) {
  const auto& speedup = evaluation.speedup;
  const bool bounded = speedup && speedup->low > 0 && std::isfinite(speedup->high);
  return bounded ? speedup->high / speedup->low : std::numeric_limits<double>::infinity();
}

bool Repeats(const Evaluation& evaluation) {
  switch (evaluation.outcome) {
    case Outcome::kParseError:
    case Outcome::kCompileError:
    case Outcome::kLoadError:
    case Outcome::kWrongShape:
    case Outcome::kWrongDtype:
    case Outcome::kMismatch:
    case Outcome::kCompileOnly:
      return true;
    case Outcome::kOk:
      return Width(evaluation) <= kWidestSharedInterval;
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
      if (const auto verdict = VerdictFrom(unit.body); verdict.ok() && !verdict->judged_before)
        Add(unit.id, verdict->evaluation, &known_[question->get<std::string>()]);
    return true;
  });
}

Result<bool> Verdicts::Claim(const std::string& key, std::string* unit, const CancelToken& cancel) {
  std::unique_lock lock(mutex_);
  for (;;) {
    Known& known = known_[key];
    if (!known.running) {
      if (!known.unit.empty() && known.Shared()) {
        *unit = known.unit;
        return false;
      }
      known.running = true;
      return true;
    }
    // The judgement under way may fail or measure badly; then this caller's turn comes.
    settled_.wait(lock, cancel, [&] {
      const auto now = known_.find(key);
      return now == known_.end() || !now->second.running;
    });
    if (cancel.stop_requested()) return Cancelled("stopped while an identical kernel was judged");
  }
}

void Verdicts::Add(const std::string& unit, const Evaluation& evaluation, Known* known) {
  const bool noisy = evaluation.outcome == Outcome::kOk && evaluation.candidate_time &&
                     Width(evaluation) > kWidestSharedInterval;
  const double width = noisy ? Width(evaluation) : 0;
  ++known->measurements;
  if (!known->unit.empty() && width >= known->width) return;
  known->unit = unit;
  known->width = width;
}

void Verdicts::Settle(const std::string& key, const std::string& unit,
                      const Evaluation* evaluation) {
  {
    std::lock_guard lock(mutex_);
    Known& known = known_[key];
    known.running = false;
    if (evaluation != nullptr) Add(unit, *evaluation, &known);
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
    const bool judged = verdict.ok() && verdict->evaluation.outcome != Outcome::kJudgeError;
    Settle(key, id.ToString(), judged ? &verdict->evaluation : nullptr);
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
