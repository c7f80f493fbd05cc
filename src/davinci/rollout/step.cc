#include "davinci/rollout/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "davinci/agent/evolution_prompt.h"
#include "davinci/base/mutex.h"
#include "davinci/base/utf8.h"
#include "davinci/data/shown_interval.h"
#include "davinci/data/turn_facts.h"
#include "davinci/rollout/kernels.h"
#include "davinci/rollout/parallel.h"
#include "davinci/rollout/policy_check.h"
#include "davinci/rollout/step_run.h"

namespace davinci::rollout {

using nlohmann::json;

namespace {

// --- one task ---

// Judges the reference in the place of a candidate. A task that cannot be judged is found before
// the first paid call, and the device is measured on the way. Rules cost nothing and ask nothing.
Status Probe(StepRun& run, const TaskRun& task, TaskOutcome* outcome) {
  if (!run.settings.probe || run.context.author_alone) return Status::Ok();
  const agent::TaskBrief& brief = task.input.brief;
  if (brief.entry.empty() || brief.reference.find("class " + brief.entry) == std::string::npos)
    return Status::Ok();  // a function or an operator: the first candidate will tell
  const UnitId id = UnitOf(UnitKind::kProbe, run.step, std::string_view(task.input.id));
  if (run.context.log->replaying()) {  // which is not told who wrote
    DAVINCI_ASSIGN_OR_RETURN(const json known, run.context.log->Find(id));
    if (known.is_null()) return Status::Ok();
  }
  const std::string source = fmt::format("{}\n\nclass {}({}):\n    pass\n", brief.reference,
                                         brief.class_name, brief.entry);
  DAVINCI_ASSIGN_OR_RETURN(
      Verdict verdict,
      run.context.verdicts->Judge(
          id,
          run.Ask(task.input, source, run.settings.turn_protocol, Urgency::kLaterTurn, task.index),
          run.cancel()));
  outcome->probe = std::move(verdict.evaluation);
  return Status::Ok();
}

// The kernel that the run starts from, judged like a turn: a rollout of its own behind those of
// the schemes. It competes with what the model writes.
Status JudgeStart(StepRun& run, const TaskRun& task, int scheme, agent::TaskBrief* brief,
                  TaskOutcome* outcome) {
  const RolloutId rollout{task.input.id, scheme, 0, run.step};
  const UnitId unit = UnitOf(UnitKind::kTrajectory, run.step, rollout);
  UnitLog& log = *run.context.log;
  DAVINCI_ASSIGN_OR_RETURN(json known, log.Find(unit));
  if (known.is_null()) {
    if (brief->start.empty() || log.replaying()) return Status::Ok();
    DAVINCI_ASSIGN_OR_RETURN(const std::string kept, log.Keep(brief->start));
    known = {{"code", kept}, {"end", TrajectoryEndName(TrajectoryEnd::kTurns)}, {"turns", 1}};
    DAVINCI_RETURN_IF_ERROR(log.Record(unit, known));
  }
  Turn turn;
  turn.id = {rollout, 1};
  turn.code_hash = known.value("code", "");
  DAVINCI_ASSIGN_OR_RETURN(brief->start, log.run().GetBlob(turn.code_hash));
  turn.language = DetectLanguage(brief->start);
  DAVINCI_ASSIGN_OR_RETURN(
      Verdict verdict,
      run.context.verdicts->Judge(UnitOf(UnitKind::kJudgement, run.step, turn.id),
                                  run.Ask(task.input, brief->start, run.settings.turn_protocol,
                                          Urgency::kLaterTurn, task.index),
                                  run.cancel()));
  ApplyPolicy(run.settings, brief->language, turn.language, &verdict.evaluation);
  brief->start_measurement = MeasurementText(verdict.evaluation);
  turn.reply = kStartReply;
  turn.evaluation = std::move(verdict.evaluation);
  run.Tell({StepEvent::Kind::kJudged, task.input.id, turn.id, &turn.evaluation, "start kernel",
            verdict.from_journal});
  Trajectory start;
  start.id = rollout;
  start.turns.push_back(std::move(turn));
  outcome->trajectories.push_back(std::move(start));
  return Status::Ok();
}

bool IsComplete(const Trajectory& trajectory) {
  return trajectory.end == TrajectoryEnd::kTurns || trajectory.end == TrajectoryEnd::kConverged ||
         trajectory.end == TrajectoryEnd::kContext;
}

}  // namespace

Trajectory RunInLane(StepRun& run, TaskRun& task, const PlannedRollout& planned, bool by_rules) {
  Trajectory trajectory;
  trajectory.id = planned.id;
  trajectory.skills = planned.skills;
  const Status status = Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(
        const Lane::Place place,
        run.context.rollout_lane->Enter(
            Urgency::kNewWork, task.Order(planned.id.scheme, planned.id.rollout), run.cancel()));
    trajectory = RunRollout(run, task, planned, by_rules);
    return Status::Ok();
  });
  if (status.ok()) return trajectory;
  trajectory.end =
      status.code() == StatusCode::kCancelled ? run.context.stop->reason() : TrajectoryEnd::kFailed;
  trajectory.problem = status.message();
  return trajectory;
}

namespace {

// One round of rollouts, side by side; they are over, one way or another, when this returns.
void RollOutRound(StepRun& run, TaskRun& task, const std::vector<PlannedRollout>& rollouts,
                  std::vector<Trajectory>* trajectories) {
  trajectories->resize(rollouts.size());
  ForEachInParallel(rollouts.size(), [&](size_t i) {
    (*trajectories)[i] = RunInLane(run, task, rollouts[i], run.context.author_alone);
  });
}

// What the strategy will see of a finished rollout.
Result<search::RolloutHistory> HistoryOf(StepRun& run, const Trajectory& trajectory) {
  search::RolloutHistory history;
  history.id = trajectory.id;
  for (const Turn& turn : trajectory.turns) {
    search::Attempt attempt = AttemptOf(turn);
    if (run.strategy->needs().code) {
      llm::Reply reply;
      reply.text = turn.reply;
      attempt.insight = agent::InsightOf(reply);
      if (!turn.code_hash.empty()) {
        DAVINCI_ASSIGN_OR_RETURN(attempt.code, run.context.log->run().GetBlob(turn.code_hash));
      }
    }
    history.turns.push_back(std::move(attempt));
  }
  return history;
}

// Rounds until the strategy has no further one. A rollout that failed ends the search here: what
// comes after depends on it, and is done when the run goes on.
Status RollOut(StepRun& run, TaskRun& task, TaskOutcome* outcome) {
  task.trajectories = &outcome->trajectories;
  for (;;) {
    const auto rollouts = run.strategy->NextRollouts(task.search_context, task.history);
    if (rollouts.empty()) return Status::Ok();
    std::vector<Trajectory> round;
    RollOutRound(run, task, rollouts, &round);
    const bool all_over = std::ranges::all_of(round, IsComplete);
    for (Trajectory& trajectory : round) {
      DAVINCI_ASSIGN_OR_RETURN(auto history, HistoryOf(run, trajectory));
      task.history.push_back(std::move(history));
      outcome->trajectories.push_back(std::move(trajectory));
    }
    if (!all_over) return Status::Ok();
  }
}

Status FinishTask(StepRun& run, const TaskRun& task, const TaskOutcome& outcome) {
  if (run.context.log->replaying()) return Status::Ok();
  const UnitId id = UnitOf(UnitKind::kTask, run.step, std::string_view(task.input.id));
  return run.context.log
      ->Do(id,
           [&]() -> Result<nlohmann::json> {
             nlohmann::json body = {{"trajectories", outcome.trajectories.size()},
                                    {"kernels", outcome.best.size()}};
             if (!outcome.best.empty()) {
               body["best"] = ToString(outcome.best.front().turn);
               body["code"] = outcome.best.front().code_hash;
               body["speedup"] = outcome.best.front().SpeedupMedian();
             }
             return body;
           })
      .status();
}

Status RunTask(StepRun& run, TaskRun& task, agent::TaskBrief* brief, TaskOutcome* outcome) {
  if (const Status probed = Probe(run, task, outcome); !probed.ok()) {
    outcome->refused = probed.code() == StatusCode::kInvalidArgument;
    return probed;
  }
  DAVINCI_ASSIGN_OR_RETURN(task.device, run.DescribeDevice(task.input.brief.target, *outcome));
  DAVINCI_ASSIGN_OR_RETURN(Plan plan, PlanSchemes(run, task));
  outcome->selections = plan.selections;
  // Without a null scheme numbers begin at 1.
  int behind = 0;
  for (const Selection& selection : plan.selections)
    behind = std::max(behind, selection.scheme + 1);
  DAVINCI_RETURN_IF_ERROR(JudgeStart(run, task, behind, brief, outcome));
  DAVINCI_RETURN_IF_ERROR(RunAuthor(run, task, behind + 1, brief, outcome));
  task.search_context = {task.input.id, run.step, run.settings.seed, plan.rollouts, {}};
  if (run.strategy->needs().knowledge && !plan.selections.empty())
    task.search_context.knowledge = plan.selections.front().chosen;
  DAVINCI_RETURN_IF_ERROR(RollOut(run, task, outcome));
  DAVINCI_RETURN_IF_ERROR(ConfirmPaid(run, task, outcome));
  outcome->best = CollectKernels(outcome->trajectories);
  const Status confirmed = ConfirmFinalists(run, task, &outcome->best);
  RankKernels(&outcome->best);
  if (outcome->best.size() > static_cast<size_t>(run.settings.keep_best))
    outcome->best.resize(static_cast<size_t>(run.settings.keep_best));
  DAVINCI_RETURN_IF_ERROR(confirmed);
  const auto incomplete = std::count_if(outcome->trajectories.begin(), outcome->trajectories.end(),
                                        [](const Trajectory& t) { return !IsComplete(t); });
  if (incomplete > 0) {
    const auto problem = std::find_if(outcome->trajectories.begin(), outcome->trajectories.end(),
                                      [](const Trajectory& t) { return !IsComplete(t); });
    outcome->remark = fmt::format("{} of {} rollouts are not complete: {}", incomplete,
                                  outcome->trajectories.size(), problem->problem);
    if (task.is_refused) {
      outcome->refused = true;
      return InvalidArgument(problem->problem);
    }
    // The rest is done when the run is continued; a summary waits for that.
    const bool any_turn = std::any_of(outcome->trajectories.begin(), outcome->trajectories.end(),
                                      [](const Trajectory& t) { return !t.turns.empty(); });
    return any_turn ? Status::Ok() : Unavailable(outcome->remark);
  }
  if (const auto& all = outcome->trajectories;
      !all.empty() && std::ranges::all_of(all, [](const Trajectory& t) { return t.turns.empty(); }))
    outcome->remark = all.front().problem;
  if (run.settings.learn) DAVINCI_RETURN_IF_ERROR(Learn(run, task, outcome));
  outcome->complete = true;
  return FinishTask(run, task, *outcome);
}

search::StrategySettings SearchSettings(const StepSettings& settings) {
  search::StrategySettings search;
  search.name = settings.strategy;
  search.rollouts = settings.rollouts;
  search.turns = settings.turns;
  search.iterations = settings.iterations;
  search.carried_turns = settings.carried_turns;
  search.window_rule = settings.window_rule;
  search.window_metric = settings.window_metric;
  search.evolve = settings.evolve;
  return search;
}

}  // namespace

std::vector<TaskOutcome> RunStep(const StepContext& context, const StepSettings& settings, int step,
                                 const std::vector<TaskInput>& tasks, int tasks_in_flight) {
  StepRun run(context, settings, step);
  run.tasks = &tasks;
  std::vector<TaskOutcome> outcomes(tasks.size());
  const auto strategy = search::MakeStrategy(SearchSettings(settings));
  Status begun = strategy.status();
  if (begun.ok()) begun = context.verdicts->BeginStep(step);
  if (begun.ok()) run.strategy = strategy->get();
  std::atomic<size_t> next{0};
  const auto num_workers =
      std::min(tasks.size(), static_cast<size_t>(std::max(tasks_in_flight, 1)));
  ForEachInParallel(num_workers, [&](size_t) {
    for (size_t i; (i = next++) < tasks.size();) {
      TaskOutcome& outcome = outcomes[i];
      outcome.task = tasks[i].id;
      outcome.step = step;
      outcome.target = tasks[i].brief.target;
      outcome.language = tasks[i].brief.language;
      TaskInput input = tasks[i];  // its brief learns what the judge says about a start kernel
      TaskRun task{.input = input, .index = static_cast<int>(i)};
      outcome.status =
          Guarded([&] { return begun.ok() ? RunTask(run, task, &input.brief, &outcome) : begun; });
      if (!outcome.status.ok()) run.StopIfHopeless(outcome.status);
      run.Tell({StepEvent::Kind::kTaskEnded, outcome.task, std::nullopt, nullptr,
                outcome.status.ok() ? outcome.remark : outcome.status.message(), false});
    }
  });
  return outcomes;
}

}  // namespace davinci::rollout
