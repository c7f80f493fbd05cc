#include "davinci/training/train_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/rl/group_filter.h"
#include "davinci/runs/run_library.h"
#include "davinci/trainer/checkpoint.h"
#include "davinci/trainer/epoch.h"

namespace davinci::training {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

// Segments of the greedy rollouts of a checkpoint, and of its samples, begin behind those that are
// trained on.
constexpr int kFirstGreedySegment = runs::kFirstHeldOutSegment;
constexpr int kFirstSampleSegment = runs::kFirstHeldOutSegment + 25'000'000;

rollout::UnitId RefusedUnit(int segment, const std::string& task) {
  return rollout::UnitOf(rollout::UnitKind::kRefused, segment, std::string_view(task));
}

// The tasks as prompts show them.
Result<std::vector<rollout::TaskInput>> ShownInputs(const std::vector<TrainTask>& tasks,
                                                    const rollout::StepSettings& settings,
                                                    const TrainParts& parts) {
  DAVINCI_ASSIGN_OR_RETURN(auto inputs, InputsOf(tasks, settings));
  if (parts.add_steps) parts.add_steps(&inputs);
  return inputs;
}

Status AllRefused(const LeftOut& left_out, const char* setting) {
  const auto& [task, reason] = *left_out.begin();
  return InvalidArgument(fmt::format("{}: the judge refuses every task ({}); {}: {}", setting,
                                     left_out.size(), task, reason));
}

}  // namespace

TrainSampling::TrainSampling(const TrainRequest& request, const TrainParts& parts,
                             rollout::StopFlag* stop, const TrainEvents& events,
                             std::unique_ptr<store::RunStore> run)
    : request_(request),
      recipe_(request.recipe),
      parts_(parts),
      stop_(stop),
      events_(events),
      run_(std::move(run)),
      engine_(run_.get(), rollout::UnitLog::Mode::kLive, recipe_.run, parts.judges,
              parts.verdict_cache, parts.num_cores, stop) {}

Result<std::unique_ptr<TrainSampling>> TrainSampling::Open(const TrainRequest& request,
                                                           const TrainParts& parts,
                                                           rollout::StopFlag* stop,
                                                           const TrainEvents& events) {
  DAVINCI_ASSIGN_OR_RETURN(auto run,
                           runs::OpenRun(request.folder, request.header, request.resolved));
  std::unique_ptr<TrainSampling> sampling(
      new TrainSampling(request, parts, stop, events, std::move(run)));
  DAVINCI_RETURN_IF_ERROR(sampling->OpenTasks());
  return sampling;
}

Status TrainSampling::OpenTasks() {
  if (recipe_.tasks.empty()) return InvalidArgument("train.tasks names no file or folder");
  DAVINCI_ASSIGN_OR_RETURN(tasks_, LoadTrainTasks(recipe_.tasks, recipe_.run.step));
  if (recipe_.eval_every > 0) {
    DAVINCI_ASSIGN_OR_RETURN(held_out_, LoadTrainTasks(recipe_.held_out, recipe_.run.step));
    DAVINCI_RETURN_IF_ERROR(CheckDisjoint(tasks_, held_out_));
    for (TrainTask& task : held_out_) {
      std::vector<task::TaskEntry> entries = {task.entry};
      DAVINCI_RETURN_IF_ERROR(runs::PlaceTaskRows(folder(), &entries));
      task.entry = std::move(entries.front());
    }
  }
  DAVINCI_ASSIGN_OR_RETURN(library_, runs::OpenRunLibrary(folder(), request_.library_sources));
  return MakeDirs(checkpoints());
}

size_t TrainSampling::TasksPerBatch() const {
  return std::min<size_t>(static_cast<size_t>(recipe_.tasks_per_step), tasks_.size());
}

Result<std::vector<rollout::TaskInput>> TrainSampling::TasksOf(int batch, int* policy) {
  std::vector<TrainTask> drawn_tasks;
  const size_t per_batch = TasksPerBatch();
  const size_t per_epoch = tasks_.size() / per_batch;
  const auto index = static_cast<size_t>(batch - 1);
  const auto order = trainer::EpochOrder(recipe_.common.seed,
                                         static_cast<int64_t>(index / per_epoch), tasks_.size());
  std::vector<task::TaskEntry> entries;
  for (size_t i = 0; i < per_batch; ++i) {
    drawn_tasks.push_back(tasks_[order[index % per_epoch * per_batch + i]]);
    entries.push_back(drawn_tasks.back().entry);
  }
  DAVINCI_RETURN_IF_ERROR(runs::PlaceTaskRows(folder(), &entries));
  // The run names its tasks, so that it can be read without the set.
  rollout::UnitId drawn;
  drawn.kind = rollout::UnitKind::kDrawn;
  drawn.step = batch;
  DAVINCI_ASSIGN_OR_RETURN(const json known, engine_.log.Find(drawn));
  if (known.is_null()) {
    DAVINCI_RETURN_IF_ERROR(runs::KeepSources(&entries));
    json body = {{"tasks", json::array()}};
    for (const task::TaskEntry& entry : entries) {
      DAVINCI_RETURN_IF_ERROR(engine_.log.Keep(entry.source).status());
      if (!entry.sidecar.empty()) DAVINCI_RETURN_IF_ERROR(engine_.log.Keep(entry.sidecar).status());
      body["tasks"].push_back(runs::TaskRecord(entry));
    }
    if (recipe_.max_staleness > 0) body["policy"] = *policy;
    DAVINCI_RETURN_IF_ERROR(engine_.log.Record(drawn, std::move(body)));
  } else {
    *policy = known.value("policy", *policy);
  }
  for (size_t i = 0; i < per_batch; ++i) drawn_tasks[i].entry = std::move(entries[i]);
  return ShownInputs(drawn_tasks, recipe_.run.step, parts_);
}

Result<std::unique_ptr<llm::Backbone>> TrainSampling::OpenSampler(int policy) {
  const bool lora = recipe_.common.learner.lora.rank > 0;
  const fs::path checkpoint = trainer::CheckpointPath(checkpoints(), policy);
  return parts_.open_model(lora ? fs::path(recipe_.common.learner.model_dir) : checkpoint,
                           lora ? checkpoint : fs::path());
}

Result<std::vector<rollout::TaskOutcome>> TrainSampling::RollOut(
    int step, int segment, int policy, llm::Backbone* model,
    const std::vector<rollout::TaskInput>& inputs, const rollout::StepSettings& settings,
    Ahead<Step>::Others* others, LeftOut* left_out) {
  rollout::ModelCalls calls(&engine_.log, rollout::Backbones(model), &engine_.llm_lane, policy);
  rollout::Verdicts verdicts(&engine_.log, &engine_.service);  // those of a step are its own
  const bool overlaps = others != nullptr && recipe_.max_batches == 1 && !recipe_.run.step.learn;
  const auto observe = [&](const rollout::StepEvent& event) {
    // The next step begins where neither model nor judge has a queue any more.
    if (overlaps && event.kind == rollout::StepEvent::Kind::kJudged &&
        engine_.judge_lane.HasFreePlace() && engine_.llm_lane.HasFreePlace())
      others->LetNextBegin();
    if (events_.step) events_.step(event);
  };
  rollout::StepContext context =
      engine_.Context(&calls, library_.get(), parts_.prompts, parts_.devices, observe);
  context.verdicts = &verdicts;
  std::vector<rollout::TaskOutcome> outcomes(inputs.size());
  std::vector<rollout::TaskInput> judged;
  std::vector<size_t> places;
  for (size_t i = 0; i < inputs.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const json known,
                             engine_.log.Find(RefusedUnit(segment, inputs[i].id)));
    outcomes[i].task = inputs[i].id;
    outcomes[i].refused = !known.is_null();
    if (outcomes[i].refused) {
      outcomes[i].status = InvalidArgument(known.value("reason", ""));
    } else {
      judged.push_back(inputs[i]);
      places.push_back(i);
    }
  }
  auto rolled_out =
      rollout::RunStep(context, settings, segment, judged, recipe_.run.tasks_in_flight);
  if (stop_->stopped()) {
    const Status why = stop_->why();
    return why.ok() ? Cancelled("stopped; the same command continues") : why;
  }
  DAVINCI_RETURN_IF_ERROR(engine_.log.broken());
  for (size_t i = 0; i < rolled_out.size(); ++i) {
    rollout::TaskOutcome& outcome = rolled_out[i];
    if (outcome.refused)
      DAVINCI_RETURN_IF_ERROR(engine_.log.Record(RefusedUnit(segment, outcome.task),
                                                 {{"reason", outcome.status.message()}}));
    else if (!outcome.status.ok())
      return outcome.status.Annotate(fmt::format("task {} of step {}", outcome.task, step));
    outcomes[places[i]] = std::move(outcome);
  }
  for (const rollout::TaskOutcome& outcome : outcomes) {
    if (!outcome.refused) continue;
    (*left_out)[outcome.task] = outcome.status.message();
    const bool is_new = [&] {
      const MutexLock lock(mutex_);
      return named_.insert(outcome.task).second;
    }();
    if (is_new)
      events_.say(fmt::format("warning: the task {} is left out, because the judge refuses it: {}",
                              outcome.task, outcome.status.message()));
  }
  return outcomes;
}

Result<TrainSampling::Sampled> TrainSampling::Sample(int step, int policy,
                                                     std::vector<rollout::TaskInput> inputs,
                                                     Ahead<Step>::Others* others) {
  Sampled sampled;
  const rl::GroupFilterOptions& groups = recipe_.algorithm.groups;
  auto wanted = static_cast<int>(TasksPerBatch());
  if (groups.max_groups > 0) wanted = std::min(wanted, groups.max_groups);
  // So many batches in a row hold a whole epoch.
  const auto most_refused = static_cast<int>(2 * (tasks_.size() / TasksPerBatch()));
  int refused_batches = 0;  // without a task that is judged
  rollout::StepSettings settings = recipe_.run.step;
  settings.paid.is_due = [this](const std::vector<Trajectory>& trajectories) {
    return IsTrained(trajectories, recipe_.algorithm);
  };
  const Stopwatch opening;
  DAVINCI_ASSIGN_OR_RETURN(const auto model, OpenSampler(policy));
  sampled.opening_seconds = opening.Seconds();
  do {
    if (sampled.batches > 0) {
      DAVINCI_ASSIGN_OR_RETURN(inputs, TasksOf(next_segment_, &policy));
    }
    ++sampled.batches;
    DAVINCI_ASSIGN_OR_RETURN(auto outcomes, RollOut(step, next_segment_++, policy, model.get(),
                                                    inputs, settings, others, &sampled.left_out));
    std::erase_if(outcomes, [](const rollout::TaskOutcome& outcome) { return outcome.refused; });
    if (outcomes.empty() && ++refused_batches >= most_refused && sampled.outcomes.empty())
      return AllRefused(sampled.left_out, "train.tasks");
    std::ranges::move(outcomes, std::back_inserter(sampled.outcomes));
    DAVINCI_ASSIGN_OR_RETURN(sampled.batch,
                             MakeTrainingBatch(sampled.outcomes, recipe_, engine_.log));
  } while (sampled.outcomes.empty() ||
           rl::NeedsMoreGroups(sampled.batch.trained_groups, wanted,
                               sampled.batches - refused_batches, recipe_.max_batches));
  return sampled;
}

Status TrainSampling::Answer(int checkpoint, Evaluated* evaluated) {
  DAVINCI_ASSIGN_OR_RETURN(const auto inputs, ShownInputs(held_out_, recipe_.run.step, parts_));
  DAVINCI_ASSIGN_OR_RETURN(const auto model, OpenSampler(checkpoint));
  const auto answer = [&](int first_segment, int first_rollout,
                          const rollout::StepSettings& settings) -> Status {
    const int segment = first_segment + checkpoint;
    DAVINCI_ASSIGN_OR_RETURN(const auto outcomes,
                             RollOut(checkpoint, segment, checkpoint, model.get(), inputs, settings,
                                     nullptr, &evaluated->left_out));
    run_->Release(segment);
    AddRollouts(outcomes, held_out_, first_rollout, &evaluated->log);
    return Status::Ok();
  };
  DAVINCI_RETURN_IF_ERROR(answer(kFirstGreedySegment, 0, GreedySettings(recipe_)));
  if (recipe_.eval_samples > 0)
    DAVINCI_RETURN_IF_ERROR(answer(kFirstSampleSegment, 1, SampleSettings(recipe_)));
  // A task that one of both has not answered has no score.
  for (auto& [split, trajectories] : evaluated->log)
    std::erase_if(trajectories, [&](const Trajectory& trajectory) {
      return evaluated->left_out.contains(trajectory.id.task);
    });
  std::erase_if(evaluated->log, [](const auto& split) { return split.second.empty(); });
  if (evaluated->log.empty() && !evaluated->left_out.empty())
    return AllRefused(evaluated->left_out, "train.held_out");
  return Status::Ok();
}

Result<TrainSampling::Evaluated> TrainSampling::Evaluate(int checkpoint) {
  const Stopwatch watch;
  Evaluated evaluated;
  evaluated.step = checkpoint;
  evaluated.known = HasEvaluation(folder(), checkpoint);
  if (evaluated.known) {
    DAVINCI_ASSIGN_OR_RETURN(evaluated.log, ReadEvaluation(folder(), checkpoint));
    DAVINCI_ASSIGN_OR_RETURN(evaluated.left_out, ReadLeftOut(folder(), checkpoint));
  } else {
    DAVINCI_RETURN_IF_ERROR(Answer(checkpoint, &evaluated));
  }
  evaluated.report = ScoreOf(evaluated.log);
  evaluated.seconds = watch.Seconds();
  return evaluated;
}

std::optional<int> TrainSampling::DueBefore(int step) const {
  const int newest = step - 1 - recipe_.max_staleness;
  return newest >= 0 && EvaluationDue(recipe_, newest) ? std::optional(newest) : std::nullopt;
}

Result<std::vector<TrainSampling::Evaluated>> TrainSampling::EvaluateRest() {
  std::vector<Evaluated> rest;
  for (int step = std::max(recipe_.steps - recipe_.max_staleness, 0); step <= recipe_.steps; ++step)
    if (EvaluationDue(recipe_, step)) {
      DAVINCI_ASSIGN_OR_RETURN(rest.emplace_back(), Evaluate(step));
    }
  return rest;
}

Status TrainSampling::Flush(int step, const std::vector<rollout::TaskOutcome>& outcomes,
                            ordered_json* line) {
  if (!recipe_.run.step.learn) return Status::Ok();
  int64_t proposed = 0;
  int64_t verified = 0;
  int64_t admitted = 0;
  for (const rollout::TaskOutcome& outcome : outcomes) {
    proposed += std::ssize(outcome.proposals);
    verified += std::ssize(outcome.verifications);
    admitted += std::ranges::count_if(outcome.verifications, &Verification::admitted);
  }
  const runs::Learned learned = runs::CollectLearned(outcomes, recipe_.run.step,
                                                     folder().filename().string(), library_.get());
  DAVINCI_ASSIGN_OR_RETURN(const skill::FlushResult flushed,
                           runs::FlushStep(*library_, step, learned));
  int64_t added = 0;
  int64_t merged = 0;
  for (const auto& [key, result] : flushed.admissions) {
    added += result.admission == skill::Admission::kAdded;
    merged += result.admission == skill::Admission::kMerged;
  }
  (*line)["skills"] = {{"proposed", proposed},
                       {"verified", verified},
                       {"admitted", admitted},
                       {"refused", verified - admitted},
                       {"added", added},
                       {"merged", merged},
                       {"retired", flushed.retired.size()}};
  return Status::Ok();
}

Result<TrainSampling::Step> TrainSampling::Prepare(int step, int newest,
                                                   Ahead<Step>::Others& others) {
  Step prepared;
  ordered_json& line = prepared.line;
  line = {{"step", step}, {"began_unix_s", NowUnixSeconds()}};
  prepared.policy = newest;
  DAVINCI_ASSIGN_OR_RETURN(auto inputs, TasksOf(next_segment_, &prepared.policy));
  // Recorded replies may come from weights that this process still has to train.
  if (!others.Await(prepared.policy)) return Cancelled("the steps before this one have failed");
  if (const auto due = DueBefore(step)) {
    DAVINCI_ASSIGN_OR_RETURN(prepared.evaluated, Evaluate(*due));
    line["seconds"]["held_out"] = prepared.evaluated->seconds;
  }
  const Stopwatch watch;
  const LaneStats model_before = engine_.llm_lane.stats();
  const LaneStats judge_before = engine_.judge_lane.stats();
  DAVINCI_ASSIGN_OR_RETURN(Sampled sampled,
                           Sample(step, prepared.policy, std::move(inputs), &others));
  for (const auto& [p, share] : FastPOf(sampled.outcomes)) line["fast_p"][p] = share;
  const auto idle = [](const LaneStats& before, const LaneStats& after) {
    const double open = after.places * (after.open_seconds - before.open_seconds);
    return open > 0 ? 1 - std::min(1.0, (after.busy_seconds - before.busy_seconds) / open) : 0.0;
  };
  line["idle"] = {{"model", idle(model_before, engine_.llm_lane.stats())},
                  {"judge", idle(judge_before, engine_.judge_lane.stats())}};
  if (!sampled.left_out.empty()) line["left_out"] = sampled.left_out;
  DAVINCI_RETURN_IF_ERROR(Flush(step, sampled.outcomes, &line));
  line["seconds"]["rollout"] = watch.Seconds();
  line["seconds"]["opening"] = sampled.opening_seconds;  // within rollout
  line["batches"] = sampled.batches;
  if (sampled.batch.samples.empty())
    return FailedPrecondition(fmt::format(
        "step {}: no reply has its tokens; training needs the embedded model's traces", step));
  for (const auto& [name, value] : sampled.batch.figures) {
    const size_t slash = name.find('/');
    line[name.substr(0, slash)][name.substr(slash + 1)] = value;
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto skills, library_->All());
  line["library"] = skills.size();
  if (request_.ranks != nullptr) line["ranks"] = request_.ranks->world().size;
  prepared.batches = sampled.batches;
  prepared.batch = std::move(sampled.batch);
  return prepared;
}

void TrainSampling::Begin(int done, int batches) {
  batches_ = batches;
  next_segment_ = batches + 1;
  ahead_ = std::make_unique<Ahead<Step>>(
      done, recipe_.steps, recipe_.max_staleness,
      [this](int step, int newest, auto& others) { return Prepare(step, newest, others); });
}

Result<TrainSampling::Step> TrainSampling::Take() {
  auto next = ahead_->Take();
  if (!next.made.ok()) return next.made.status();
  Step step = std::move(next.made).value();
  ordered_json& line = step.line;
  const double rollout = line["seconds"]["rollout"];
  line["seconds"]["trainer_waited"] = next.waited_seconds;
  line["seconds"]["rollouts_waited"] = next.held_seconds;
  line["idle"]["rollouts"] = next.held_seconds / std::max(next.held_seconds + rollout, 1e-9);
  return step;
}

void TrainSampling::Done(int step, int batches) {
  while (batches_ < batches) run_->Release(++batches_);
  ahead_->Done(step);
}

}  // namespace davinci::training
