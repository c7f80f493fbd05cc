#include "davinci/training/train_evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"

namespace davinci::training {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr char kFolder[] = "evaluations";
// The step number that seeds of model calls are made with; training begins with 1.
constexpr int kSeedStep = 0;

fs::path PathOf(const fs::path& run, int64_t step, const char* extension) {
  return run / kFolder / fmt::format("step-{:08}{}", step, extension);
}

rollout::StepSettings FixedSettings(const TrainRecipe& recipe) {
  rollout::StepSettings settings = recipe.run.step;
  settings.seed_step = kSeedStep;
  settings.learn = false;
  settings.logprobs = false;
  // Rewards may be paid after a cheap first look, figures are not unless they are asked to.
  if (!recipe.eval_protocol.empty())
    settings.turn_protocol = recipe.eval_protocol;
  else if (settings.turn_protocol == "staged")
    settings.turn_protocol = settings.paid_protocol;
  settings.final_protocol = settings.turn_protocol;  // no kernel is confirmed
  settings.paid = {};
  settings.null_scheme = settings.schemes == 0;
  settings.schemes = std::min(settings.schemes, 1);
  return settings;
}

// The part of a verdict that scoring reads.
Evaluation Bare(const Evaluation& evaluation) {
  Evaluation bare;
  bare.outcome = evaluation.outcome;
  bare.correct = evaluation.correct;
  bare.speedup = evaluation.speedup;
  bare.message = evaluation.message;
  bare.labels = evaluation.labels;
  for (const char* key : {"protocol", "language"})
    if (evaluation.provenance.contains(key)) bare.provenance[key] = evaluation.provenance[key];
  if (const auto profile = evaluation.evidence.find("profile");
      profile != evaluation.evidence.end() && profile->is_object()) {
    json& kept = bare.evidence["profile"];
    kept = *profile;
    kept.erase("operators");
    if (kept.contains("device") && kept["device"].is_object()) kept["device"].erase("list");
  }
  return bare;
}

Trajectory Bare(const Trajectory& trajectory, int first_rollout) {
  Trajectory bare;
  bare.id = trajectory.id;
  bare.id.rollout += first_rollout;
  bare.skills = trajectory.skills;
  bare.end = trajectory.end;
  bare.problem = trajectory.problem;
  bare.started_unix_s = trajectory.started_unix_s;
  bare.finished_unix_s = trajectory.finished_unix_s;
  for (const Turn& turn : trajectory.turns) {
    Turn& kept = bare.turns.emplace_back();
    kept.id = {bare.id, turn.id.turn};
    kept.code_hash = turn.code_hash;
    kept.language = turn.language;
    kept.finish_reason = turn.finish_reason;
    kept.evaluation = Bare(turn.evaluation);
    kept.judge_seconds = turn.judge_seconds;
  }
  return bare;
}

// "fast_1", "greedy" of "fast_1/greedy".
std::pair<std::string, std::string> Parts(const std::string& key) {
  const size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace

bool EvaluationDue(const TrainRecipe& recipe, int step) {
  return recipe.eval_every > 0 && (step % recipe.eval_every == 0 || step == recipe.steps);
}

rollout::StepSettings GreedySettings(const TrainRecipe& recipe) {
  rollout::StepSettings settings = FixedSettings(recipe);
  settings.rollouts = 1;
  settings.policy_sampling.temperature = 0;
  settings.selection_sampling.temperature = 0;
  return settings;
}

rollout::StepSettings SampleSettings(const TrainRecipe& recipe) {
  rollout::StepSettings settings = FixedSettings(recipe);
  settings.rollouts = recipe.eval_samples;
  return settings;
}

void AddRollouts(const std::vector<rollout::TaskOutcome>& outcomes,
                 const std::vector<TrainTask>& tasks, int first_rollout, HeldOutLog* log) {
  for (size_t i = 0; i < outcomes.size(); ++i)
    for (const Trajectory& trajectory : outcomes[i].trajectories)
      (*log)[tasks[i].split].push_back(Bare(trajectory, first_rollout));
}

size_t NumTasks(const HeldOutLog& log) {
  size_t count = 0;
  for (const auto& [split, input] : ScoreInputsOf(log)) count += input.levels.size();
  return count;
}

std::map<std::string, score::ScoreInput> ScoreInputsOf(const HeldOutLog& log) {
  std::map<std::string, score::ScoreInput> inputs;
  for (const auto& [split, trajectories] : log) {
    score::ScoreInput& input = inputs[split];
    input.trajectories = trajectories;
    for (const Trajectory& trajectory : trajectories) input.levels[trajectory.id.task] = {};
  }
  return inputs;
}

score::ScoreReport ScoreOf(const HeldOutLog& log) {
  return score::ScoreHeldOut(ScoreInputsOf(log));
}

HeldOutScore GreedyScore(const score::ScoreReport& report) {
  HeldOutScore score;
  double splits = 0;
  for (const score::ScoreSection& section : report.sections) {
    if (report.sections.size() > 1 && section.title == score::kAllSplits) continue;
    ++splits;
    for (const score::MetricValue& metric : section.metrics) {
      if (metric.key == "fast_1/greedy") score.fast_1 += metric.estimate.value;
      if (metric.key == "correct/greedy") score.correct += metric.estimate.value;
    }
  }
  return splits > 0 ? HeldOutScore{score.fast_1 / splits, score.correct / splits} : score;
}

ordered_json LogFigures(const score::ScoreReport& report) {
  ordered_json figures;
  for (const score::ScoreSection& section : report.sections)
    for (const score::MetricValue& metric : section.metrics) {
      const auto [name, reading] = Parts(metric.key);
      figures[reading][name][section.title] = metric.estimate.value;
    }
  return figures;
}

std::string EvaluationText(int step, const score::ScoreReport& report, const LeftOut& left_out) {
  std::string text = fmt::format("held-out tasks, checkpoint {}:", step);
  if (report.sections.empty()) return text + " none";
  const score::ScoreSection& all = report.sections.front();
  text += fmt::format(" {} tasks", all.num_tasks);
  for (const score::MetricValue& metric : all.metrics) {
    const score::Estimate& found = metric.estimate;
    const double factor = metric.scale == score::Scale::kRate ? 100 : 1;
    text += fmt::format("; {} {}", metric.title, score::FormatValue(metric.scale, found.value));
    if (found.low && found.high)
      text += fmt::format(" [{:.3g}, {:.3g}]", factor * *found.low, factor * *found.high);
  }
  if (!left_out.empty())
    text += "\n" + LeftOutText(left_out, static_cast<size_t>(all.num_tasks) + left_out.size());
  return text;
}

bool HasEvaluation(const fs::path& run, int64_t step) {
  std::error_code error;
  return fs::exists(PathOf(run, step, ".json"), error);
}

Status WriteEvaluation(const fs::path& run, int64_t step, const HeldOutLog& log,
                       const LeftOut& left_out, const score::ScoreReport& report) {
  std::string lines;
  for (const auto& [split, trajectories] : log)
    for (const Trajectory& trajectory : trajectories)
      lines += JsonText(json{{"split", split}, {"trajectory", ToJson(trajectory)}}) + "\n";
  DAVINCI_RETURN_IF_ERROR(MakeDirs(run / kFolder));
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(PathOf(run, step, ".jsonl"), lines));
  json document = score::ToJson(report);
  document["step"] = step;
  document["left_out"] = left_out;
  return WriteFileAtomic(PathOf(run, step, ".json"), JsonText(document, 1) + "\n");
}

Result<HeldOutLog> ReadEvaluation(const fs::path& run, int64_t step) {
  if (!HasEvaluation(run, step))
    return NotFound(fmt::format("{} has no held-out evaluation of step {}; there are those of: {}",
                                run.string(), step, fmt::join(ListEvaluations(run), ", ")));
  const fs::path path = PathOf(run, step, ".jsonl");
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  HeldOutLog log;
  int number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const json line = json::parse(text.substr(begin, end - begin), nullptr, false);
    begin = end + 1;
    ++number;
    if (!line.is_object() || !line.value("split", json()).is_string() ||
        !line.contains("trajectory"))
      return InvalidArgument(
          fmt::format("{}:{}: no rollout of a held-out evaluation", path.string(), number));
    auto trajectory = TrajectoryFromJson(line["trajectory"]);
    if (!trajectory.ok())
      return trajectory.status().Annotate(fmt::format("{}:{}", path.string(), number));
    log[line["split"].get<std::string>()].push_back(*std::move(trajectory));
  }
  return log;
}

Result<LeftOut> ReadLeftOut(const fs::path& run, int64_t step) {
  const fs::path path = PathOf(run, step, ".json");
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object())
    return InvalidArgument(fmt::format("{}: no held-out evaluation", path.string()));
  LeftOut left_out;
  const json found = document.value("left_out", json::object());
  for (const auto& [task, reason] : found.items())
    left_out[task] = reason.is_string() ? reason.get<std::string>() : "";
  return left_out;
}

std::vector<int64_t> ListEvaluations(const fs::path& run) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run / kFolder, error)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kPrefix = "step-";
    if (!name.starts_with(kPrefix) || entry.path().extension() != ".json") continue;
    int64_t step = 0;
    const char* const digits = name.data() + kPrefix.size();
    const auto read = std::from_chars(digits, name.data() + name.size(), step);
    if (read.ec == std::errc() && read.ptr != digits) steps.push_back(step);
  }
  std::ranges::sort(steps);
  return steps;
}

}  // namespace davinci::training
