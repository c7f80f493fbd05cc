#include "davinci/rollout/paid_turns.h"

#include <algorithm>
#include <map>
#include <utility>

#include "davinci/rl/rejection.h"
#include "davinci/rollout/parallel.h"
#include "davinci/rollout/policy_check.h"
#include "davinci/rollout/step_run.h"

namespace davinci::rollout {
namespace {

// Share of a speedup that a second verdict has to leave, for the turn to keep its place.
constexpr double kKeptShare = 0.8;

PaidClaim ClaimOf(const Evaluation& evaluation) {
  if (evaluation.outcome != Outcome::kOk) return {};
  return {evaluation.speedup ? evaluation.speedup->median : 0};
}

// Written by the model and judged: what could be paid for.
bool IsPayable(const Turn& turn) {
  return !turn.code_hash.empty() && turn.model != kRulesModel && turn.reply != kStartReply &&
         turn.evaluation.outcome != Outcome::kJudgeError &&
         !turn.evaluation.evidence.contains("policy");
}

Status JudgeForPayment(StepRun& run, TaskRun& task, bool audited, Turn* turn, PaidCheck* check) {
  const StepSettings& settings = run.settings;
  UnitId id = UnitOf(UnitKind::kPayment, run.step, turn->id);
  id.variant = audited ? "audit" : "";
  std::string source;
  if (!run.context.log->replaying()) {
    DAVINCI_ASSIGN_OR_RETURN(source, run.context.log->run().GetBlob(turn->code_hash));
  }
  DAVINCI_ASSIGN_OR_RETURN(
      Verdict verdict,
      run.context.verdicts->Judge(
          id,
          run.Ask(task.input, source, audited ? settings.audit_protocol : settings.paid_protocol,
                  Urgency::kFinal, task.index),
          run.cancel()));
  Evaluation& second = verdict.evaluation;
  const bool ours = second.outcome == Outcome::kJudgeError;
  if (!ours) ApplyPolicy(settings, task.input.brief.language, turn->language, &second);
  *check = {turn->id, audited, turn->evaluation, second};
  // An audit that failed says nothing; a payment without its confirmation is none.
  if (!ours || !audited) turn->evaluation = std::move(second);
  return Status::Ok();
}

}  // namespace

PaidClaim ClaimAfter(const Evaluation& first, const Evaluation& second) {
  const PaidClaim before = ClaimOf(first);
  PaidClaim after = ClaimOf(second);
  if (before.speedup && after.speedup && *after.speedup >= kKeptShare * *before.speedup)
    after = before;
  after.done = true;
  return after;
}

std::vector<size_t> DueForPayment(const std::vector<PaidClaim>& claims, int best) {
  std::vector<size_t> order;
  for (size_t i = 0; i < claims.size(); ++i)
    if (claims[i].speedup) order.push_back(i);
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return *claims[a].speedup > *claims[b].speedup; });
  if (order.size() > static_cast<size_t>(std::max(best, 0)))
    order.resize(static_cast<size_t>(std::max(best, 0)));
  std::erase_if(order, [&](size_t i) { return claims[i].done; });
  return order;
}

bool IsAudited(const TurnId& turn, double share, int64_t seed) {
  return rl::SeededDraw(static_cast<uint64_t>(seed), "audit " + ToString(turn)) < share;
}

bool Agree(const Evaluation& first, const Evaluation& second) {
  const bool both_ok = first.outcome == Outcome::kOk && second.outcome == Outcome::kOk;
  if (!both_ok)
    return (first.outcome == Outcome::kOk) == (second.outcome == Outcome::kOk) &&
           first.correct.value_or(false) == second.correct.value_or(false);
  const auto& a = first.speedup;
  const auto& b = second.speedup;
  if (!a || !b) return !a && !b;
  return a->decided_low <= b->decided_high && b->decided_low <= a->decided_high;
}

Status ConfirmPaid(StepRun& run, TaskRun& task, TaskOutcome* outcome) {
  const PaidTurnSettings& paid = run.settings.paid;
  if (paid.best <= 0 && paid.audit_share <= 0) return Status::Ok();
  std::map<int, std::vector<Turn*>> groups;
  for (Trajectory& trajectory : outcome->trajectories)
    for (Turn& turn : trajectory.turns)
      if (IsPayable(turn)) groups[turn.id.turn].push_back(&turn);
  std::map<int, std::vector<PaidClaim>> claims;
  for (const auto& [number, turns] : groups)
    for (const Turn* turn : turns) claims[number].push_back(ClaimOf(turn->evaluation));
  struct Due {
    int number = 0;    // of the turn
    size_t index = 0;  // in its group
    bool audited = false;
    PaidCheck check = {};
    Status status = {};
  };
  const auto judge = [&](std::vector<Due> due) -> Status {
    ForEachInParallel(due.size(), [&](size_t i) {
      due[i].status = Guarded([&] {
        return JudgeForPayment(run, task, due[i].audited, groups.at(due[i].number)[due[i].index],
                               &due[i].check);
      });
    });
    for (Due& one : due) {
      DAVINCI_RETURN_IF_ERROR(one.status);
      // An audit that failed left the turn's own verdict.
      claims[one.number][one.index] =
          ClaimAfter(one.check.first, groups.at(one.number)[one.index]->evaluation);
      outcome->paid_checks.push_back(std::move(one.check));
    }
    return Status::Ok();
  };
  std::vector<Due> drawn;
  for (const auto& [number, turns] : groups)
    for (size_t i = 0; i < turns.size(); ++i)
      if (IsAudited(turns[i]->id, paid.audit_share, run.settings.seed))
        drawn.push_back({number, i, true});
  DAVINCI_RETURN_IF_ERROR(judge(std::move(drawn)));
  const int best = paid.is_due && !paid.is_due(outcome->trajectories) ? 0 : paid.best;
  for (;;) {
    std::vector<Due> due;
    for (const auto& [number, turns] : groups)
      for (const size_t i : DueForPayment(claims[number], best)) due.push_back({number, i});
    if (due.empty()) return Status::Ok();
    DAVINCI_RETURN_IF_ERROR(judge(std::move(due)));
  }
}

}  // namespace davinci::rollout
