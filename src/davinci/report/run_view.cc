#include "davinci/report/run_view.h"

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
