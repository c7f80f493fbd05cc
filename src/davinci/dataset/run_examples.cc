#include "davinci/dataset/run_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "davinci/config/task_config.h"
#include "davinci/rollout/step.h"
#include "davinci/runs/run_folder.h"
#include "davinci/runs/task_inputs.h"
#include "davinci/sftdata/example.h"
#include "davinci/sftdata/family.h"
#include "davinci/training/train_recipe.h"

namespace davinci::dataset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using rollout::UnitKind;

struct Asked {
  sftdata::Row prompt;
  llm::Reply reply;
};

double BestSpeedup(const Trajectory& trajectory) {
  double best = 0;
  for (const Turn& turn : trajectory.turns)
    if (turn.evaluation.outcome == Outcome::kOk && turn.evaluation.speedup)
      best = std::max(best, turn.evaluation.speedup->median);
  return best;
}

// Mean over the rollouts of a scheme of their best speedup; nothing without a rollout.
std::optional<double> ValueOf(const rollout::TaskOutcome& outcome, int scheme) {
  double sum = 0;
  int count = 0;
  for (const Trajectory& trajectory : outcome.trajectories) {
    if (trajectory.id.scheme != scheme || trajectory.turns.empty()) continue;
    sum += BestSpeedup(trajectory);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// A run that is read.
class Reader {
 public:
  Reader(std::unique_ptr<store::RunStore> run, const ExampleRules& rules, NullValues* null_values,
         ExampleCounts* counts, const std::function<Status(sftdata::Row)>& take)
      : run_(std::move(run)),
        log_(run_.get(), rollout::UnitLog::Mode::kReplay),
        rules_(rules),
        null_values_(*null_values),
        counts_(*counts),
        take_(take) {}

  Status Read();

 private:
  Result<std::vector<task::TaskEntry>> TasksOf(int step);
  Status ReadStep(int step, const std::vector<task::TaskEntry>& tasks);
  Status ReadTask(const task::TaskEntry& task, const rollout::TaskOutcome& outcome);
  Status ReadTrajectory(const task::TaskEntry& task, const Trajectory& trajectory);
  Status ReadSelection(const task::TaskEntry& task, const rollout::TaskOutcome& outcome,
                       const Selection& selection);
  Status ReadSummary(const task::TaskEntry& task, const rollout::TaskOutcome& outcome,
                     const SummaryCall& call);
  // The call of a unit; nothing where the journal has none (a kernel that the user started from).
  Result<std::optional<Asked>> CallOf(const rollout::UnitId& id);
  Status Take(sftdata::Row row, const task::TaskEntry& task, const std::string& id);
  void LeaveOut(const char* agent, const std::string& rule) {
    ++counts_.left_out[fmt::format("{}/{}", agent, rule.substr(0, rule.find(':')))];
  }

  const std::unique_ptr<store::RunStore> run_;
  rollout::UnitLog log_;
  const ExampleRules& rules_;
  NullValues& null_values_;
  ExampleCounts& counts_;
  const std::function<Status(sftdata::Row)>& take_;
  runs::RunHeader header_;
  rollout::StepSettings settings_;
  size_t tasks_per_step_ = 0;
};

Result<std::optional<Asked>> Reader::CallOf(const rollout::UnitId& id) {
  DAVINCI_ASSIGN_OR_RETURN(const json body, log_.Find(id));
  if (body.is_null() || !body.contains("reply") || !body.contains("prompt"))
    return std::optional<Asked>();
  DAVINCI_ASSIGN_OR_RETURN(const std::string request,
                           run_->GetBlob(body["prompt"].get<std::string>()));
  const json parsed = json::parse(request, nullptr, false);
  if (!parsed.is_object()) return Internal(id.ToString() + ": its prompt is damaged");
  Asked asked;
  DAVINCI_ASSIGN_OR_RETURN(asked.prompt, sftdata::RowOfRequest(parsed));
  DAVINCI_ASSIGN_OR_RETURN(asked.reply, llm::ReplyFromJson(body["reply"]));
  return std::optional(std::move(asked));
}

Status Reader::Take(sftdata::Row row, const task::TaskEntry& task, const std::string& id) {
  row.origin.id = fmt::format("{}/{}", run_->folder().filename().string(), id);
  row.origin.task = task.id;
  row.origin.reference = task.source;
  row.origin.family = sftdata::FamilyOf(task.source);
  DAVINCI_ASSIGN_OR_RETURN(const auto config,
                           config::ParseTaskConfig(task.sidecar, task.id + ".toml"));
  row.origin.split = config.split;
  DAVINCI_ASSIGN_OR_RETURN(const auto input, runs::InputFromRecord(task, settings_));
  row.origin.entry_point = input.brief.entry;
  ++counts_.rows;
  return take_(std::move(row));
}

Status Reader::ReadTrajectory(const task::TaskEntry& task, const Trajectory& trajectory) {
  // Nothing was asked: rules wrote it.
  if (!trajectory.turns.empty() && trajectory.turns.front().model == kRulesModel)
    return Status::Ok();
  ++counts_.trajectories;
  counts_.turns += static_cast<int64_t>(trajectory.turns.size());
  const sftdata::TrajectoryVerdict verdict =
      sftdata::AssessTrajectory(trajectory, rules_.trajectory);
  std::vector<sftdata::RecordedTurn> turns;
  std::vector<double> speedups;
  for (size_t t = 0; t < trajectory.turns.size(); ++t) {
    const std::string& rule = verdict.rule.empty() ? verdict.turns[t].rule : verdict.rule;
    if (!rule.empty()) LeaveOut("policy", rule);
    DAVINCI_ASSIGN_OR_RETURN(auto asked, CallOf(UnitOf(UnitKind::kGeneration, trajectory.id.step,
                                                       trajectory.turns[t].id)));
    if (!asked) return Status::Ok();
    turns.push_back({std::move(asked->prompt), std::move(asked->reply), rule.empty() ? 1.0 : 0.0});
    speedups.push_back(verdict.turns[t].speedup);
  }
  std::vector<size_t> last_turns;
  std::vector<sftdata::Row> rows = sftdata::RowsOfConversation(turns, &last_turns);
  size_t begin = 0;  // first turn that this row may train
  for (size_t r = 0; r < rows.size(); ++r) {
    sftdata::Row& row = rows[r];
    const size_t last = last_turns[r];
    double best = 0;
    for (size_t t = begin; t <= last; ++t)
      if (turns[t].weight > 0) best = std::max(best, speedups[t]);
    if (best > 0) row.origin.speedup = best;
    row.origin.round_speedups = speedups;
    row.origin.best_round = verdict.best;
    row.origin.skills = trajectory.skills;
    DAVINCI_RETURN_IF_ERROR(Take(std::move(row), task, ToString(trajectory.turns[last].id)));
    begin = last + 1;
  }
  return Status::Ok();
}

Status Reader::ReadSelection(const task::TaskEntry& task, const rollout::TaskOutcome& outcome,
                             const Selection& selection) {
  rollout::UnitId id = UnitOf(UnitKind::kSelection, outcome.step, std::string_view(outcome.task));
  id.scheme = selection.scheme;
  DAVINCI_ASSIGN_OR_RETURN(auto asked, CallOf(id));
  if (!asked) return Status::Ok();
  ++counts_.selections;
  sftdata::ToolExample example = sftdata::SelectionExample(std::move(asked->prompt), asked->reply,
                                                           selection.shown, settings_.select);
  const auto value = ValueOf(outcome, selection.merged_into.value_or(selection.scheme));
  const auto control = null_values_.find(outcome.task);
  if (example.problem.empty() && value && control != null_values_.end() &&
      *value < rules_.min_selection_uplift * control->second)
    example.problem = "not_helpful";
  if (!example.problem.empty()) {
    LeaveOut("selection", example.problem);
    return Status::Ok();
  }
  if (value && *value > 0) example.row.origin.speedup = value;
  return Take(std::move(example.row), task,
              CallLabel(outcome.task, outcome.step, fmt::format("selection/{}", selection.scheme)));
}

Status Reader::ReadSummary(const task::TaskEntry& task, const rollout::TaskOutcome& outcome,
                           const SummaryCall& call) {
  rollout::UnitId id = UnitOf(UnitKind::kSummary, outcome.step, std::string_view(outcome.task));
  id.summary = call.summary;
  DAVINCI_ASSIGN_OR_RETURN(auto asked, CallOf(id));
  if (!asked) return Status::Ok();
  ++counts_.summaries;
  std::vector<size_t> kept;
  bool tried = false;
  for (const SkillProposal& proposal : outcome.proposals) {
    if (proposal.summary != call.summary || !proposal.refused.empty()) continue;
    for (const Verification& verification : outcome.verifications) {
      if (verification.summary != proposal.summary || verification.proposal != proposal.proposal)
        continue;
      tried = true;
      if (verification.admitted) kept.push_back(static_cast<size_t>(proposal.proposal));
    }
  }
  sftdata::ToolExample example = sftdata::SummaryExample(std::move(asked->prompt), asked->reply,
                                                         kept, settings_.max_new_skills);
  if (example.problem.empty() && kept.empty())
    example.problem = call.num_proposals == 0 ? "no_skill" : tried ? "not_admitted" : "refused";
  if (!example.problem.empty()) {
    LeaveOut("summary", example.problem);
    return Status::Ok();
  }
  for (const Trajectory& trajectory : outcome.trajectories) {
    if (trajectory.id != call.after.rollout) continue;
    const double best = BestSpeedup(trajectory);
    if (best > 0) example.row.origin.speedup = best;
    for (const Turn& turn : trajectory.turns)
      example.row.origin.round_speedups.push_back(turn.evaluation.outcome == Outcome::kOk &&
                                                          turn.evaluation.speedup
                                                      ? turn.evaluation.speedup->median
                                                      : 0);
    example.row.origin.best_round = call.after.turn;
  }
  return Take(std::move(example.row), task,
              CallLabel(outcome.task, outcome.step, fmt::format("summary/{}", call.summary)));
}

Status Reader::ReadTask(const task::TaskEntry& task, const rollout::TaskOutcome& outcome) {
  ++counts_.tasks;
  for (const Selection& selection : outcome.selections)
    if (selection.null_scheme)
      if (const auto value = ValueOf(outcome, selection.scheme))
        null_values_[outcome.task] = *value;
  for (const Trajectory& trajectory : outcome.trajectories)
    DAVINCI_RETURN_IF_ERROR(ReadTrajectory(task, trajectory));
  for (const Selection& selection : outcome.selections)
    if (!selection.prompt_hash.empty())
      DAVINCI_RETURN_IF_ERROR(ReadSelection(task, outcome, selection));
  for (const SummaryCall& call : outcome.summaries)
    DAVINCI_RETURN_IF_ERROR(ReadSummary(task, outcome, call));
  return Status::Ok();
}

Status Reader::ReadStep(int step, const std::vector<task::TaskEntry>& tasks) {
  std::vector<rollout::TaskInput> inputs;
  for (const task::TaskEntry& task : tasks) {
    DAVINCI_ASSIGN_OR_RETURN(auto input, runs::InputFromRecord(task, settings_));
    inputs.push_back(std::move(input));
  }
  Lane llm_lane("language model", 1);
  Lane rollout_lane("rollouts", 1);
  rollout::ModelCalls calls(&log_, rollout::Backbones(), &llm_lane);
  rollout::Verdicts verdicts(&log_, nullptr);
  rollout::StopFlag stop;
  rollout::StepContext context;
  context.log = &log_;
  context.calls = &calls;
  context.verdicts = &verdicts;
  context.rollout_lane = &rollout_lane;
  context.stop = &stop;
  const auto outcomes = rollout::RunStep(context, settings_, step, inputs, 1);
  // A task that was not finished has the trajectories that are there.
  for (size_t i = 0; i < outcomes.size(); ++i)
    DAVINCI_RETURN_IF_ERROR(ReadTask(tasks[i], outcomes[i]));
  return Status::Ok();
}

// Training draws the tasks of a step; other runs go through those of the header.
Result<std::vector<task::TaskEntry>> Reader::TasksOf(int step) {
  std::vector<task::TaskEntry> tasks;
  if (header_.command == "train") {
    rollout::UnitId id;
    id.kind = UnitKind::kDrawn;
    id.step = step;
    DAVINCI_ASSIGN_OR_RETURN(const json body, log_.Find(id));
    if (body.is_null())
      return FailedPrecondition(
          fmt::format("{}: step {} does not say which tasks it drew; an earlier version of davinci "
                      "made this run",
                      run_->folder().string(), step));
    for (const json& record : body.value("tasks", json::array())) {
      DAVINCI_ASSIGN_OR_RETURN(auto task, runs::TaskFromRecord(record, *run_));
      tasks.push_back(std::move(task));
    }
    return tasks;
  }
  const size_t begin = static_cast<size_t>(step - 1) * tasks_per_step_;
  for (size_t i = begin; i < std::min(begin + tasks_per_step_, header_.tasks.size()); ++i)
    tasks.push_back(header_.tasks[i]);
  return tasks;
}

Status Reader::Read() {
  DAVINCI_ASSIGN_OR_RETURN(header_, runs::HeaderFrom(*run_));
  if (header_.command == "train") {
    DAVINCI_ASSIGN_OR_RETURN(const auto file, config::Recipe::Load(run_->folder() / "recipe.toml"));
    DAVINCI_ASSIGN_OR_RETURN(const training::TrainRecipe recipe,
                             training::ReadTrainRecipe(file, nullptr));
    settings_ = recipe.run.step;
  } else {
    DAVINCI_ASSIGN_OR_RETURN(const runs::RunRecipe recipe, runs::RecipeOf(run_->folder(), nullptr));
    settings_ = recipe.step;
    tasks_per_step_ = settings_.learn ? static_cast<size_t>(recipe.tasks_per_step)
                                      : std::max<size_t>(header_.tasks.size(), 1);
  }
  for (const int step : run_->Steps()) {
    if (header_.command == "train" && step >= runs::kFirstHeldOutSegment) break;
    DAVINCI_ASSIGN_OR_RETURN(const auto tasks, TasksOf(step));
    // Experiments may use another task of the step, so a step that learns is replayed as a whole.
    const size_t at_once = settings_.learn ? std::max<size_t>(tasks.size(), 1) : kTasksAtOnce;
    for (size_t begin = 0; begin < tasks.size(); begin += at_once) {
      const auto from = tasks.begin() + static_cast<ptrdiff_t>(begin);
      const auto count = static_cast<ptrdiff_t>(std::min(at_once, tasks.size() - begin));
      DAVINCI_RETURN_IF_ERROR(ReadStep(step, {from, from + count}));
    }
    run_->Release(step);
  }
  return Status::Ok();
}

}  // namespace

sftdata::OrderedJson ToJson(const ExampleCounts& counts) {
  return {{"tasks", counts.tasks},         {"trajectories", counts.trajectories},
          {"turns", counts.turns},         {"selections", counts.selections},
          {"summaries", counts.summaries}, {"rows", counts.rows},
          {"left_out", counts.left_out}};
}

Status ExamplesOfRun(const fs::path& folder, const ExampleRules& rules, NullValues* null_values,
                     ExampleCounts* counts, const std::function<Status(sftdata::Row)>& take) {
  DAVINCI_ASSIGN_OR_RETURN(auto run, store::RunStore::OpenForReading(folder));
  return Reader(std::move(run), rules, null_values, counts, take).Read().Annotate(folder.string());
}

}  // namespace davinci::dataset
