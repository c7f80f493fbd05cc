#include "davinci/score/attempt.h"

#include <algorithm>

#include "davinci/data/shown_interval.h"
#include "davinci/data/turn_facts.h"

namespace davinci::score {

using nlohmann::json;

Attempt JudgedAttempt(const Turn& turn) {
  const Evaluation& evaluation = turn.evaluation;
  Attempt attempt;
  attempt.turn = turn.id.turn;
  const Outcome outcome = evaluation.outcome;
  attempt.compiled = outcome != Outcome::kParseError && outcome != Outcome::kCompileError &&
                     outcome != Outcome::kLoadError;
  attempt.correct = IsAccepted(evaluation);
  if (attempt.correct && evaluation.speedup) {
    attempt.speedup = evaluation.speedup->median;
    attempt.speedup_low = evaluation.speedup->low;
    attempt.faster = IsFaster(*evaluation.speedup);
    attempt.baseline = evaluation.speedup->baseline;
  }
  const json protocol = evaluation.provenance.value("protocol", json::object());
  if (protocol.is_object() && protocol.value("name", json()).is_string())
    attempt.protocol = protocol["name"].get<std::string>();
  attempt.coverage = Coverage(evaluation);
  attempt.only_pytorch = IsDecoy(turn);
  attempt.wide = attempt.speedup > 0 && !IsNarrow(Shown(evaluation.speedup.value()));
  if (attempt.correct) {
    const BaselineSpeedups over = SpeedupsOf(evaluation);
    attempt.over_eager = over.eager;
    attempt.over_compile = over.compile;
  }
  return attempt;
}

bool IsDecoy(const Turn& turn) { return OnlyPyTorch(turn.language, turn.evaluation); }

const Attempt& LastAttempt(const Sample& sample) { return sample.attempts.back(); }

bool IsBetter(const Attempt& a, const Attempt& b, Order order) {
  if (a.correct != b.correct) return a.correct;
  if (!a.correct) return false;
  if (order == Order::kSure && a.faster != b.faster) return a.faster;
  return a.speedup > b.speedup;
}

std::optional<Attempt> BestAttempt(const Sample& sample, int turn, Order order) {
  std::optional<Attempt> best;
  for (const Attempt& attempt : sample.attempts) {
    if (turn > 0 && attempt.turn > turn) break;
    if (!best || IsBetter(attempt, *best, order)) best = attempt;
  }
  return best;
}

CollectedRun Collect(const std::vector<Trajectory>& trajectories,
                     const std::map<std::string, std::optional<int>>& levels, AttemptRule rule,
                     const SourceLookup& sources) {
  std::map<std::string, TaskSamples> tasks;
  for (const auto& [task, level] : levels) tasks[task] = {task, level, {}};
  CollectedRun run;
  for (const Trajectory& trajectory : trajectories) {
    Sample sample{trajectory.id, {}};
    for (const Turn& turn : trajectory.turns) {
      if (turn.evaluation.outcome == Outcome::kJudgeError) continue;
      const bool has_source = sources && !turn.code_hash.empty();
      sample.attempts.push_back(rule(turn, has_source ? sources(turn.code_hash) : nullptr));
      sample.attempts.back().code_hash = turn.code_hash;
    }
    const bool full = trajectory.end == TrajectoryEnd::kContext;
    const bool finished = full || trajectory.end == TrajectoryEnd::kTurns ||
                          trajectory.end == TrajectoryEnd::kConverged;
    run.num_unfinished += finished ? 0 : 1;
    // A task whose prompt the model's context cannot hold is one that it fails.
    if (full && trajectory.turns.empty()) sample.attempts.emplace_back().turn = 1;
    if (sample.attempts.empty()) {
      ++run.num_unjudged;
      continue;
    }
    run.max_turns = std::max(run.max_turns, sample.attempts.back().turn);
    TaskSamples& task = tasks[trajectory.id.task];
    task.task = trajectory.id.task;
    task.samples.push_back(std::move(sample));
  }
  for (auto& [name, task] : tasks) {
    std::sort(task.samples.begin(), task.samples.end(),
              [](const Sample& a, const Sample& b) { return a.id < b.id; });
    run.most_samples = std::max(run.most_samples, task.samples.size());
    run.tasks.push_back(std::move(task));
  }
  return run;
}

}  // namespace davinci::score
