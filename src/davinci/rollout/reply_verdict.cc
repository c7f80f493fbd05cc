#include "davinci/rollout/reply_verdict.h"

#include <utility>

#include "davinci/data/turn_facts.h"
#include "davinci/rollout/wrong_kernels.h"

namespace davinci::rollout {
namespace {

Result<Verdict> JudgeFile(StepRun& run, const TaskRun& task, const TurnId& turn, const UnitId& id,
                          const std::string& source) {
  return run.context.verdicts->Judge(
      id,
      run.Ask(task.input, source, run.settings.turn_protocol,
              turn.turn > 1 ? Urgency::kLaterTurn : Urgency::kNewWork,
              task.Order(turn.rollout.scheme, turn.rollout.rollout)),
      run.cancel());
}

}  // namespace

Result<Verdict> JudgeReply(StepRun& run, const TaskRun& task, const TurnId& turn,
                           const std::string& code, CandidateFile* candidate) {
  UnitId id = UnitOf(UnitKind::kJudgement, run.step, turn);
  DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, JudgeFile(run, task, turn, id, candidate->source));
  if (!MayBeOneKernels(verdict.evaluation)) return verdict;
  WrongKernels search(candidate->kernels.launched, verdict.evaluation);
  for (id.sample = 0; id.sample < run.settings.isolate; ++id.sample) {
    const auto asked = search.Next();
    if (!asked) break;
    if (run.context.log->replaying()) {
      DAVINCI_ASSIGN_OR_RETURN(const auto judged, run.context.log->Find(id));
      if (judged.is_null()) break;
    }
    DAVINCI_ASSIGN_OR_RETURN(CandidateFile part,
                             run.CandidateOf(id, task.input, code, search.Others(*asked)));
    DAVINCI_ASSIGN_OR_RETURN(Verdict of_part, JudgeFile(run, task, turn, id, part.source));
    search.Learn(of_part.evaluation);
    of_part.queue_seconds += verdict.queue_seconds;
    of_part.judge_seconds += verdict.judge_seconds;
    if (IsAccepted(of_part.evaluation)) {
      verdict = std::move(of_part);
      *candidate = std::move(part);
    } else {
      verdict.queue_seconds = of_part.queue_seconds;
      verdict.judge_seconds = of_part.judge_seconds;
    }
  }
  return verdict;
}

}  // namespace davinci::rollout
