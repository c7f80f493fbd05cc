// The rollout that rules write under a language model: the floor that the model has to beat.

#include <fmt/format.h>

#include <algorithm>

#include "davinci/data/shown_interval.h"
#include "davinci/rollout/step_run.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

// The share of a prompt that the kernel's text may take.
constexpr int64_t kMostShare = 3;

double SureOf(const Turn& turn) {
  if (!turn.evaluation.correct.value_or(false)) return -1;
  return turn.evaluation.speedup ? SureSpeedup(*turn.evaluation.speedup) : 0;
}

const Turn* BestOf(const Trajectory& trajectory) {
  const Turn* best = nullptr;
  for (const Turn& turn : trajectory.turns)
    if (SureOf(turn) >= 0 && (best == nullptr || SureOf(turn) > SureOf(*best))) best = &turn;
  return best;
}

// The author's words about the turn (the note of its unit).
Result<std::string> FloorText(StepRun& run, const Turn& turn) {
  DAVINCI_ASSIGN_OR_RETURN(const json unit,
                           run.context.log->Find(UnitOf(UnitKind::kGeneration, run.step, turn.id)));
  const json note = unit.is_object() ? unit.value("note", json::object()) : json::object();
  std::string text = fmt::format("Rules wrote a kernel without a model. The judge about it: {}",
                                 MeasurementText(turn.evaluation));
  if (!note.is_object()) return text;
  std::string skills;
  for (const json& skill : note.value("skills", json::array()))
    skills += (skills.empty() ? "" : ", ") + skill.get<std::string>();
  if (!skills.empty()) text += fmt::format("\n\nWhat it does already: {}.", skills);
  if (const std::string kept = note.value("kept", ""); !kept.empty())
    text += fmt::format("\n\nWhat it leaves to PyTorch, and why: {}.", kept);
  return text;
}

}  // namespace

Status RunAuthor(StepRun& run, TaskRun& task, int scheme, agent::TaskBrief* brief,
                 TaskOutcome* outcome) {
  if (run.context.author_alone) return Status::Ok();
  const PlannedRollout planned{{task.input.id, scheme, 0, run.step}, {}};
  UnitLog& log = *run.context.log;
  DAVINCI_ASSIGN_OR_RETURN(
      const json known, log.Find(UnitOf(UnitKind::kGeneration, run.step, TurnId{planned.id, 1})));
  const RuleAuthor* author = run.context.author;
  if (known.is_null() && (author == nullptr || !author->Knows(task.input.id))) return Status::Ok();
  if (author == nullptr && !log.replaying()) return Status::Ok();
  const double start =
      outcome->trajectories.empty() ? -1 : SureOf(outcome->trajectories.back().turns.front());
  Trajectory trajectory = RunInLane(run, task, planned, /*by_rules=*/true);
  if (const Turn* best = BestOf(trajectory); best != nullptr && !log.replaying()) {
    DAVINCI_ASSIGN_OR_RETURN(brief->floor, FloorText(run, *best));
    DAVINCI_ASSIGN_OR_RETURN(const std::string source, log.run().GetBlob(best->code_hash));
    const ModelCalls& calls = *run.context.calls;
    const int64_t room =
        calls.ContextTokens(run.settings.context_tokens) - run.settings.policy_sampling.max_tokens;
    if (SureOf(*best) > start && calls.CountTokens(source) * kMostShare <= room) {
      brief->start = source;
      brief->start_measurement = MeasurementText(best->evaluation);
    }
  }
  outcome->trajectories.push_back(std::move(trajectory));
  return Status::Ok();
}

}  // namespace davinci::rollout
