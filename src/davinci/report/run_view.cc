#include "davinci/report/run_view.h"

#include <fmt/format.h>

#include "davinci/data/shown_interval.h"

namespace davinci::report {

std::vector<Trajectory> WithConfirmedVerdicts(const TaskView& task) {
  std::vector<Trajectory> trajectories = task.trajectories;
  for (Trajectory& trajectory : trajectories) {
    for (Turn& turn : trajectory.turns) {
      const auto confirmed = task.confirmed.find(turn.code_hash);
      if (confirmed != task.confirmed.end()) turn.evaluation = confirmed->second;
    }
  }
  return trajectories;
}

TaskState StateOf(const TaskView& task) {
  if (task.winner) return TaskState::kCertified;
  if (task.not_decided) return TaskState::kNotDecided;
  if (task.not_faster) return TaskState::kNotFaster;
  if (task.none_held) return TaskState::kNoneHeld;
  const auto correct = [](const Evaluation& e) { return e.correct.value_or(false); };
  for (const auto& [hash, evaluation] : task.confirmed)
    if (correct(evaluation)) return TaskState::kConfirmed;
  for (const Trajectory& trajectory : task.trajectories)
    for (const Turn& turn : trajectory.turns)
      if (correct(turn.evaluation)) return TaskState::kScreened;
  return TaskState::kUnsolved;
}

std::string_view StateText(TaskState state) {
  switch (state) {
    case TaskState::kCertified:
      return "certified";
    case TaskState::kNotDecided:
      return "not decided: machine busy";
    case TaskState::kNotFaster:
      return "not faster";
    case TaskState::kNoneHeld:
      return "none held when judged again";
    case TaskState::kConfirmed:
      return "judged under the full protocol";
    case TaskState::kScreened:
      return "first verdict only";
    case TaskState::kUnsolved:
      return "unsolved";
  }
  return "";
}

const Winner* BestKernel(const TaskView& task) {
  for (const auto* kernel : {&task.winner, &task.not_decided, &task.not_faster})
    if (*kernel) return &**kernel;
  return nullptr;
}

const Evaluation* HeadlineOf(const TaskView& task) {
  if (const Winner* best = BestKernel(task)) return &best->certified;
  if (task.none_held) return nullptr;
  const Evaluation* best = nullptr;
  const auto consider = [&](const Evaluation& evaluation) {
    if (!evaluation.speedup) return;
    if (best == nullptr || SureSpeedup(*evaluation.speedup) > SureSpeedup(*best->speedup))
      best = &evaluation;
  };
  for (const auto& [hash, evaluation] : task.confirmed) consider(evaluation);
  if (best != nullptr) return best;
  for (const Trajectory& trajectory : task.trajectories)
    for (const Turn& turn : trajectory.turns) consider(turn.evaluation);
  return best;
}

std::string_view AuthorName(Author author) {
  return author == Author::kExpert ? "expert" : author == Author::kUser ? "user" : "model";
}

Author AuthorOf(const Trajectory& trajectory) {
  if (trajectory.turns.empty()) return Author::kModel;
  const Turn& first = trajectory.turns.front();
  if (first.reply == kStartReply) return Author::kUser;
  return first.model == kRulesModel ? Author::kExpert : Author::kModel;
}

Author AuthorOf(const TaskView& task, const TurnId& turn) {
  for (const Trajectory& trajectory : task.trajectories)
    if (trajectory.id == turn.rollout) return AuthorOf(trajectory);
  return Author::kModel;
}

Rivals RivalsOf(const TaskView& task) {
  Rivals rivals;
  bool model = false;
  bool expert = false;
  const auto sure = [](const Evaluation* evaluation) {
    if (evaluation == nullptr) return -1.0;
    return evaluation->speedup ? SureSpeedup(*evaluation->speedup) : 0.0;
  };
  for (const Trajectory& trajectory : task.trajectories) {
    const Author author = AuthorOf(trajectory);
    if (author == Author::kUser) continue;
    (author == Author::kExpert ? expert : model) = true;
    const Evaluation*& best = author == Author::kExpert ? rivals.expert : rivals.model;
    for (const Turn& turn : trajectory.turns) {
      const auto confirmed = task.confirmed.find(turn.code_hash);
      const Evaluation* counts =
          confirmed != task.confirmed.end() ? &confirmed->second : &turn.evaluation;
      if (counts->correct.value_or(false) && sure(counts) > sure(best)) best = counts;
    }
  }
  rivals.both = model && expert;
  return rivals;
}

std::string RivalsText(const TaskView& task) {
  const Rivals rivals = RivalsOf(task);
  if (!rivals.both) return "";
  const auto figure = [](const Evaluation* best) {
    if (best == nullptr) return std::string("no correct kernel");
    return best->speedup ? FigureText(*best->speedup) : std::string("correct, not timed");
  };
  std::string text;
  if (task.winner)
    text = fmt::format("the {} won; ", AuthorName(AuthorOf(task, task.winner->turn)));
  return text + fmt::format("the expert's best: {}; the model's best: {}", figure(rivals.expert),
                            figure(rivals.model));
}

std::map<std::string, LlmCost> CostsByAgent(const TaskView& task) {
  std::map<std::string, LlmCost> costs;
  for (const Selection& selection : task.selections) costs["selection"] += selection.cost;
  for (const Trajectory& trajectory : task.trajectories)
    for (const Turn& turn : trajectory.turns) costs["policy"] += turn.cost;
  for (const SummaryCall& call : task.summaries) costs["summary"] += call.cost;
  for (const Verification& verification : task.verifications)
    for (const VerificationSample& sample : verification.samples)
      costs["verification"] += sample.cost;
  std::erase_if(costs, [](const auto& entry) { return entry.second == LlmCost{}; });
  return costs;
}

std::map<std::string, LlmCost> CostsByAgent(const RunView& run) {
  std::map<std::string, LlmCost> costs;
  for (const TaskView& task : run.tasks)
    for (const auto& [agent, cost] : CostsByAgent(task)) costs[agent] += cost;
  return costs;
}

score::ScoreInput ScoreInputOf(const RunView& run) {
  score::ScoreInput input;
  for (const TaskView& task : run.tasks) {
    input.levels[task.task.id] = task.task.level;
    for (Trajectory& trajectory : WithConfirmedVerdicts(task))
      input.trajectories.push_back(std::move(trajectory));
  }
  input.sources = [&run](const std::string& code_hash) -> const std::string* {
    const auto found = run.sources.find(code_hash);
    return found == run.sources.end() ? nullptr : &found->second;
  };
  return input;
}

}  // namespace davinci::report
