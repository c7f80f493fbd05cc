#include "davinci/report/run_view.h"

namespace davinci::report {

std::map<std::string, LlmCost> CostsByAgent(const RunView& run) {
  std::map<std::string, LlmCost> costs;
  for (const TaskView& task : run.tasks) {
    for (const Selection& selection : task.selections) costs["selection"] += selection.cost;
    for (const Trajectory& trajectory : task.trajectories)
      for (const Turn& turn : trajectory.turns) costs["policy"] += turn.cost;
    for (const SkillProposal& proposal : task.proposals) costs["summary"] += proposal.cost;
    for (const Verification& verification : task.verifications)
      for (const VerificationSample& sample : verification.samples)
        costs["verification"] += sample.cost;
  }
  return costs;
}

score::ScoreInput ScoreInputOf(const RunView& run) {
  score::ScoreInput input;
  for (const TaskView& task : run.tasks) {
    input.levels[task.task.id] = task.task.level;
    input.trajectories.insert(input.trajectories.end(), task.trajectories.begin(),
                              task.trajectories.end());
  }
  input.sources = [&run](const std::string& code_hash) -> const std::string* {
    const auto found = run.sources.find(code_hash);
    return found == run.sources.end() ? nullptr : &found->second;
  };
  return input;
}

}  // namespace davinci::report
