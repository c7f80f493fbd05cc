#include "davinci/runs/view.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/config/recipe.h"

namespace davinci::runs {
namespace {

using nlohmann::json;

void Flatten(const json& table, const std::string& prefix,
             std::vector<std::pair<std::string, std::string>>* settings) {
  for (const auto& [key, value] : table.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object())
      Flatten(value, name, settings);
    else
      settings->emplace_back(name, config::TomlLiteral(value));
  }
}

void KeepSource(store::RunStore& run, const std::string& hash,
                std::map<std::string, std::string>* sources) {
  if (hash.empty() || sources->contains(hash)) return;
  if (auto text = run.GetBlob(hash); text.ok()) sources->emplace(hash, std::move(text).value());
}

std::string DeviceOf(const std::vector<rollout::TaskOutcome>& outcomes) {
  std::string name;
  for (const rollout::TaskOutcome& outcome : outcomes) {
    if (outcome.probe) name = DeviceName(*outcome.probe);
    for (const Trajectory& trajectory : outcome.trajectories)
      for (const Turn& turn : trajectory.turns)
        if (name.empty()) name = DeviceName(turn.evaluation);
    if (!name.empty()) break;
  }
  return name;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> FlatSettings(const json& recipe) {
  std::vector<std::pair<std::string, std::string>> settings;
  Flatten(recipe, "", &settings);
  return settings;
}

Result<report::RunView> MakeView(const RunHeader& header, const std::string& resolved_recipe,
                                 const std::string& target,
                                 std::vector<rollout::TaskOutcome> outcomes, store::RunStore& run) {
  report::RunView view;
  view.title = header.title;
  view.folder = run.folder().string();
  view.target = target;
  view.device = DeviceOf(outcomes);
  view.recorded = header.recorded;
  view.started_unix_s = header.created_unix_s;
  DAVINCI_ASSIGN_OR_RETURN(const auto recipe,
                           config::Recipe::Parse(resolved_recipe, "recipe.toml"));
  view.settings = FlatSettings(recipe.tree().values);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    rollout::TaskOutcome& outcome = outcomes[i];
    report::TaskView task;
    task.task = header.tasks[i];
    task.reference = header.tasks[i].source;
    task.selections = std::move(outcome.selections);
    task.trajectories = std::move(outcome.trajectories);
    for (const rollout::Kernel& kernel : outcome.best)
      if (kernel.confirmed) task.confirmed[kernel.code_hash] = *kernel.confirmed;
    task.summaries = std::move(outcome.summaries);
    task.proposals = std::move(outcome.proposals);
    task.verifications = std::move(outcome.verifications);
    task.remark = outcome.status.ok() ? outcome.remark : outcome.status.message();
    view.finished = view.finished && outcome.status.ok();
    for (const Trajectory& trajectory : task.trajectories) {
      view.finished = view.finished && (trajectory.end == TrajectoryEnd::kTurns ||
                                        trajectory.end == TrajectoryEnd::kConverged ||
                                        trajectory.end == TrajectoryEnd::kContext);
      for (const Turn& turn : trajectory.turns) KeepSource(run, turn.code_hash, &view.sources);
    }
    for (const Verification& verification : task.verifications)
      for (const VerificationSample& sample : verification.samples)
        KeepSource(run, sample.code_hash, &view.sources);
    view.tasks.push_back(std::move(task));
  }
  return view;
}

}  // namespace davinci::runs
