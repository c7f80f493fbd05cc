#include "davinci/rollout/reply_verdict.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "davinci/rollout/slow_kernels.h"
#include "davinci/rollout/wrong_kernels.h"

namespace davinci::rollout {
namespace {

Result<Verdict> JudgeFile(StepRun& run, const TaskRun& task, const TurnId& turn, const UnitId& id,
                          const std::string& source) {
  auto verdict =
      run.context.verdicts->Judge(id,
                                  run.Ask(task.input, source, run.settings.turn_protocol,
                                          turn.turn > 1 ? Urgency::kLaterTurn : Urgency::kNewWork,
                                          task.Order(turn.rollout.scheme, turn.rollout.rollout)),
                                  run.cancel());
  if (!verdict.ok() && verdict.status().code() == StatusCode::kInvalidArgument)
    task.is_refused = true;
  return verdict;
}

// A reply of a turn, and what is known of it.
struct Reply {
  StepRun& run;
  const TaskRun& task;
  const TurnId& turn;
  const std::string& code;
  CandidateFile* candidate;
  Verdict verdict;  // about `candidate`; with the times of all judgements
  UnitId id;        // of the next judgement
};

// Judges what `search` asks for, as long as it does and the setting allows it. What it takes
// becomes the reply's candidate.
template <typename Search>
Status JudgeParts(Search search, Reply* reply) {
  StepRun& run = reply->run;
  const std::vector<agent::LeftOut> before = reply->candidate->kernels.left_out;
  for (; reply->id.sample < run.settings.isolate; ++reply->id.sample) {
    const auto asked = search.Next();
    if (!asked) break;
    if (run.context.log->replaying()) {
      DAVINCI_ASSIGN_OR_RETURN(const auto judged, run.context.log->Find(reply->id));
      if (judged.is_null()) break;
    }
    std::vector<agent::LeftOut> others = search.Others(*asked);
    others.insert(others.begin(), before.begin(), before.end());
    DAVINCI_ASSIGN_OR_RETURN(CandidateFile part,
                             run.CandidateOf(reply->id, reply->task.input, reply->code, others));
    DAVINCI_ASSIGN_OR_RETURN(Verdict verdict,
                             JudgeFile(run, reply->task, reply->turn, reply->id, part.source));
    verdict.queue_seconds += reply->verdict.queue_seconds;
    verdict.judge_seconds += reply->verdict.judge_seconds;
    if (search.Learn(verdict.evaluation)) {
      reply->verdict = std::move(verdict);
      *reply->candidate = std::move(part);
    } else {
      reply->verdict.queue_seconds = verdict.queue_seconds;
      reply->verdict.judge_seconds = verdict.judge_seconds;
    }
  }
  return Status::Ok();
}

// A call that a graph cannot capture may be right without one: which of its lines wait for the
// device or copy from the host is PyTorch's business, and no kernel's.
class WithoutReplay {
 public:
  static bool MayHelp(const Evaluation& evaluation) {
    return MayBeOneKernels(evaluation) && evaluation.message.find("capture") != std::string::npos;
  }

  std::optional<std::set<std::string>> Next() const {
    return asked_ ? std::nullopt : std::optional<std::set<std::string>>(std::in_place);
  }
  bool Learn(const Evaluation& verdict) {
    asked_ = true;
    return !MayHelp(verdict);
  }
  static std::vector<agent::LeftOut> Others(const std::set<std::string>&) {
    return {{std::string(agent::kReplay), "a graph cannot capture the call"}};
  }

 private:
  bool asked_ = false;
};

}  // namespace

Result<Verdict> JudgeReply(StepRun& run, const TaskRun& task, const TurnId& turn,
                           const std::string& code, CandidateFile* candidate) {
  UnitId id = UnitOf(UnitKind::kJudgement, run.step, turn);
  DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, JudgeFile(run, task, turn, id, candidate->source));
  id.sample = 0;
  Reply reply{run, task, turn, code, candidate, std::move(verdict), std::move(id)};
  const Evaluation& found = reply.verdict.evaluation;
  if (WithoutReplay::MayHelp(found)) {
    DAVINCI_RETURN_IF_ERROR(JudgeParts(WithoutReplay(), &reply));
  }
  if (MayBeOneKernels(found)) {
    DAVINCI_RETURN_IF_ERROR(JudgeParts(WrongKernels(candidate->kernels.launched, found), &reply));
  }
  if (IsSlow(found)) {
    DAVINCI_RETURN_IF_ERROR(JudgeParts(SlowKernels(candidate->kernels.launched, found), &reply));
  }
  return std::move(reply.verdict);
}

}  // namespace davinci::rollout
