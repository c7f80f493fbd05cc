#include "davinci/orchestrator/train_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "davinci/base/clock.h"
#include "davinci/base/duration.h"
#include "davinci/base/files.h"
#include "davinci/comm/agree.h"
#include "davinci/orchestrator/ahead.h"
#include "davinci/orchestrator/run_library.h"
#include "davinci/orchestrator/step_engine.h"
#include "davinci/orchestrator/task_inputs.h"
#include "davinci/orchestrator/train_critic.h"
#include "davinci/orchestrator/train_policy.h"
#include "davinci/orchestrator/train_ranks.h"
#include "davinci/orchestrator/training_batch.h"
#include "davinci/rl/collapse_monitor.h"
#include "davinci/rl/group_filter.h"
#include "davinci/trainer/checkpoint.h"
#include "davinci/trainer/epoch.h"
#include "davinci/trainer/run_log.h"

namespace davinci::orchestrator {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

// The same on all ranks, so that all fail alike.
Status CheckRanks(const TrainRequest& request) {
  if (request.ranks == nullptr) return Status::Ok();
  if (request.recipe.algorithm.critic.enabled)
    return InvalidArgument(
        "advantage.kind \"gae\": a critic is trained by one process; start davinci train without "
        "mpirun, torchrun or srun");
  DAVINCI_ASSIGN_OR_RETURN(const auto all, request.ranks->Exchange(request.resolved));
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      return InvalidArgument(
          fmt::format("rank {} has another recipe than rank 0; start all ranks with the same "
                      "arguments and files",
                      rank));
  return Status::Ok();
}

Result<std::unique_ptr<trainer::Learner>> OpenRankLearner(const TrainRequest& request) {
  trainer::LearnerOptions options = request.recipe.common.learner;
  options.ranks = request.ranks;
  return trainer::OpenLearner(options);
}

class Training {
 public:
  Training(const TrainRequest& request, const TrainParts& parts, rollout::StopFlag* stop,
           const TrainEvents& events, std::unique_ptr<store::RunStore> run)
      : request_(request),
        recipe_(request.recipe),
        parts_(parts),
        stop_(stop),
        events_(events),
        run_(std::move(run)),
        engine_(run_.get(), rollout::UnitLog::Mode::kLive, recipe_.run, parts.judges,
                parts.verdict_cache, parts.num_cores, stop),
        monitor_(rl::CollapseOptions{}) {}

  Result<TrainOutcome> Run();

 private:
  // Functions whose status every rank shares are marked "agreed".
  Status OpenTasks();
  // Agreed.
  Status OpenLearner();
  // What a step trains: a batch of tasks is rolled out, and further ones as long as too few groups
  // differ (dynamic sampling). The library is that of the step's beginning for all of them.
  struct Sampled {
    std::vector<rollout::TaskOutcome> outcomes;
    TrainingBatch batch;
    int batches = 0;
    double opening_seconds = 0;  // of the model
  };
  // The first batch has been drawn.
  Result<Sampled> Sample(int step, int policy, std::vector<rollout::TaskInput> first_batch);
  size_t TasksPerBatch() const {
    return std::min<size_t>(static_cast<size_t>(recipe_.tasks_per_step), tasks_.size());
  }
  // `policy`: the step whose checkpoint samples; where the batch has been drawn before, what was
  // recorded then.
  Result<std::vector<rollout::TaskInput>> TasksOf(int batch, int* policy);
  // The checkpoint of step `policy`, for sampling.
  Result<std::unique_ptr<llm::Backbone>> OpenSampler(int policy);
  // As units of `segment`.
  Result<std::vector<rollout::TaskOutcome>> RollOut(int step, int segment, int policy,
                                                    llm::Backbone* model,
                                                    const std::vector<rollout::TaskInput>& inputs,
                                                    const rollout::StepSettings& settings);
  // The policy that `step` samples from, on the held-out tasks, where they are due: their fast_1.
  Result<std::optional<double>> HeldOut(int step, int policy, ordered_json* line);
  Status Flush(int step, const std::vector<rollout::TaskOutcome>& outcomes, ordered_json* line);
  // What a step needs before it is trained, and what of it goes into the log line. In the thread of
  // Ahead, with next_segment_, library and the lanes' times; the rest of a step is the main
  // thread's.
  struct Prepared {
    Sampled sampled;
    int policy = 0;
    std::optional<double> held_out;
    ordered_json line;
  };
  Result<Prepared> Prepare(int step, int newest, const Ahead<Prepared>::Await& await);
  // What is watched from step to step.
  void Observe(Prepared* prepared);
  Status TrainStep(int step, Prepared* prepared);
  Status TrainSteps();
  Status Learn(int step, TrainingBatch& batch, ordered_json* line);
  // Agreed.
  Status Save(int step);
  // A failure of this rank inside a step, where the others wait for it.
  Status Fail(const Status& status) const {
    if (ranks_ != nullptr) ranks_->Abort(status);
    return status;
  }
  fs::path Checkpoints() const { return run_->folder() / "checkpoints"; }
  bool lora() const { return recipe_.common.learner.lora.rank > 0; }

  const TrainRequest& request_;
  const TrainRecipe& recipe_;
  const TrainParts& parts_;
  rollout::StopFlag* const stop_;
  const TrainEvents& events_;
  const std::unique_ptr<store::RunStore> run_;
  comm::RankGroup* const ranks_ = request_.ranks;
  StepEngine engine_;
  rl::CollapseMonitor monitor_;
  std::vector<task::TaskEntry> tasks_, held_out_;
  std::unique_ptr<skill::Library> library_;
  std::optional<trainer::RunLog> log_;
  std::unique_ptr<trainer::Learner> learner_;
  std::unique_ptr<TrainCritic> critic_;  // null without one
  bool begins_ = true;                   // there was no checkpoint
  int done_ = 0;                         // steps that have a checkpoint
  int batches_ = 0;                      // of tasks, that they rolled out
  int next_segment_ = 1;                 // of the batch that is rolled out next
  std::optional<int64_t> best_;          // the step whose checkpoint did best on the held-out tasks
  double best_score_ = 0;
  double saving_seconds_ = 0;  // of the newest checkpoint
  std::optional<Eta> eta_;     // of the steps
  TrainOutcome outcome_;
};

Status Training::OpenTasks() {
  if (recipe_.tasks.empty()) return InvalidArgument("train.tasks names no file or folder");
  DAVINCI_ASSIGN_OR_RETURN(tasks_, LoadTasks(recipe_.tasks, {}));
  if (recipe_.eval_every > 0) {
    DAVINCI_ASSIGN_OR_RETURN(held_out_, LoadTasks(recipe_.held_out, {}));
    std::set<std::string> trained;
    for (const task::TaskEntry& entry : tasks_) trained.insert(entry.id);
    for (const task::TaskEntry& entry : held_out_)
      if (trained.contains(entry.id))
        return InvalidArgument(fmt::format(
            "the task {} stands in train.tasks and in train.held_out; leave it out of one",
            entry.id));
    DAVINCI_RETURN_IF_ERROR(PlaceTaskRows(run_->folder(), &held_out_));
  }
  DAVINCI_ASSIGN_OR_RETURN(library_, OpenRunLibrary(run_->folder(), request_.library_sources));
  DAVINCI_RETURN_IF_ERROR(MakeDirs(Checkpoints()));
  DAVINCI_ASSIGN_OR_RETURN(const auto steps, trainer::ListCheckpoints(Checkpoints()));
  begins_ = steps.empty();
  if (!begins_) done_ = static_cast<int>(steps.back());
  DAVINCI_ASSIGN_OR_RETURN(log_, trainer::RunLog::Open(run_->folder(), done_));
  return Status::Ok();
}

Status Training::OpenLearner() {
  DAVINCI_RETURN_IF_ERROR(
      FromRank0(ranks_, begins_ ? std::string() : std::to_string(done_)).status());
  DAVINCI_ASSIGN_OR_RETURN(learner_, OpenRankLearner(request_));
  if (recipe_.algorithm.critic.enabled) {
    DAVINCI_ASSIGN_OR_RETURN(critic_, TrainCritic::Open(recipe_));
  }
  if (begins_) return Save(0);
  const fs::path newest = trainer::CheckpointPath(Checkpoints(), done_);
  DAVINCI_ASSIGN_OR_RETURN(
      const json state,
      trainer::ReadCheckpoint(newest, *learner_, critic_ ? &critic_->learner() : nullptr));
  if (critic_ != nullptr) {
    DAVINCI_RETURN_IF_ERROR(critic_->Restore(state["critic"].value("gate", json())));
  }
  batches_ = state.value("batches", done_);
  if (const json best = state.value("best", json()); best.is_object()) {
    best_ = best.value("step", int64_t{0});
    best_score_ = best.value("fast_1", 0.0);
  }
  outcome_.checkpoint = newest;
  events_.say(fmt::format("continuing after step {}", done_));
  return Status::Ok();
}

Status Training::Save(int step) {
  json state = {{"command", "train"},          {"step", step},
                {"batches", batches_},         {"library_step", step},
                {"journal_segment", batches_}, {"seed", recipe_.common.seed}};
  if (critic_ != nullptr) state["critic"] = {{"gate", critic_->State()}};
  if (best_) state["best"] = {{"step", *best_}, {"fast_1", best_score_}};
  const trainer::CheckpointSource source{recipe_.common.learner.model_dir,
                                         recipe_.common.learner.lora};
  DAVINCI_ASSIGN_OR_RETURN(
      outcome_.checkpoint,
      trainer::WriteCheckpoint(Checkpoints(), step, *learner_, source, std::move(state),
                               critic_ ? &critic_->learner() : nullptr));
  const trainer::CheckpointSettings& kept = recipe_.common.checkpoint;
  // Those that later steps still sample from, or turn out the best, stay.
  const int needed = recipe_.max_staleness > 0 ? recipe_.max_staleness + 2 : 1;
  return comm::Agree(ranks_,
                     trainer::PruneCheckpoints(Checkpoints(), std::max(kept.keep_last, needed),
                                               kept.keep_best ? best_ : std::nullopt));
}

Result<std::vector<rollout::TaskInput>> Training::TasksOf(int batch, int* policy) {
  std::vector<task::TaskEntry> entries;
  const size_t per_batch = TasksPerBatch();
  const size_t per_epoch = tasks_.size() / per_batch;
  const auto index = static_cast<size_t>(batch - 1);
  const auto order = trainer::EpochOrder(recipe_.common.seed,
                                         static_cast<int64_t>(index / per_epoch), tasks_.size());
  for (size_t i = 0; i < per_batch; ++i)
    entries.push_back(tasks_[order[index % per_epoch * per_batch + i]]);
  DAVINCI_RETURN_IF_ERROR(PlaceTaskRows(run_->folder(), &entries));
  // The run names its tasks, so that it can be read without the set.
  rollout::UnitId drawn;
  drawn.kind = rollout::UnitKind::kDrawn;
  drawn.step = batch;
  DAVINCI_ASSIGN_OR_RETURN(const json known, engine_.log.Find(drawn));
  if (known.is_null()) {
    DAVINCI_RETURN_IF_ERROR(KeepSources(&entries));
    json body = {{"tasks", json::array()}};
    for (const task::TaskEntry& entry : entries) {
      DAVINCI_RETURN_IF_ERROR(engine_.log.Keep(entry.source).status());
      if (!entry.sidecar.empty()) DAVINCI_RETURN_IF_ERROR(engine_.log.Keep(entry.sidecar).status());
      body["tasks"].push_back(TaskRecord(entry));
    }
    if (recipe_.max_staleness > 0) body["policy"] = *policy;
    DAVINCI_RETURN_IF_ERROR(engine_.log.Record(drawn, std::move(body)));
  } else {
    *policy = known.value("policy", *policy);
  }
  return MakeTaskInputs(entries, recipe_.run.step);
}

Result<std::unique_ptr<llm::Backbone>> Training::OpenSampler(int policy) {
  const fs::path checkpoint = trainer::CheckpointPath(Checkpoints(), policy);
  return parts_.open_model(lora() ? fs::path(recipe_.common.learner.model_dir) : checkpoint,
                           lora() ? checkpoint : fs::path());
}

Result<std::vector<rollout::TaskOutcome>> Training::RollOut(
    int step, int segment, int policy, llm::Backbone* model,
    const std::vector<rollout::TaskInput>& inputs, const rollout::StepSettings& settings) {
  rollout::ModelCalls calls(&engine_.log, rollout::Backbones(model), &engine_.llm_lane, policy);
  const rollout::StepContext context =
      engine_.Context(&calls, library_.get(), parts_.prompts, parts_.device, events_.step);
  auto outcomes = rollout::RunStep(context, settings, segment, inputs, recipe_.run.tasks_in_flight);
  if (stop_->stopped()) {
    const Status why = stop_->why();
    return why.ok() ? Cancelled("stopped; the same command continues") : why;
  }
  DAVINCI_RETURN_IF_ERROR(engine_.log.broken());
  for (const rollout::TaskOutcome& outcome : outcomes)
    if (!outcome.status.ok())
      return outcome.status.Annotate(fmt::format("task {} of step {}", outcome.task, step));
  return outcomes;
}

Result<Training::Sampled> Training::Sample(int step, int policy,
                                           std::vector<rollout::TaskInput> inputs) {
  Sampled sampled;
  const rl::GroupFilterOptions& groups = recipe_.algorithm.groups;
  auto wanted = static_cast<int>(TasksPerBatch());
  if (groups.max_groups > 0) wanted = std::min(wanted, groups.max_groups);
  const Stopwatch opening;
  DAVINCI_ASSIGN_OR_RETURN(const auto model, OpenSampler(policy));
  sampled.opening_seconds = opening.Seconds();
  do {
    if (sampled.batches > 0) {
      DAVINCI_ASSIGN_OR_RETURN(inputs, TasksOf(next_segment_, &policy));
    }
    ++sampled.batches;
    DAVINCI_ASSIGN_OR_RETURN(auto outcomes, RollOut(step, next_segment_++, policy, model.get(),
                                                    inputs, recipe_.run.step));
    std::ranges::move(outcomes, std::back_inserter(sampled.outcomes));
    DAVINCI_ASSIGN_OR_RETURN(sampled.batch,
                             MakeTrainingBatch(sampled.outcomes, recipe_, engine_.log));
  } while (rl::NeedsMoreGroups(sampled.batch.trained_groups, wanted, sampled.batches,
                               recipe_.max_batches));
  return sampled;
}

Result<std::optional<double>> Training::HeldOut(int step, int policy, ordered_json* line) {
  if (recipe_.eval_every == 0 || (step - 1) % recipe_.eval_every != 0)
    return std::optional<double>();
  const Stopwatch watch;
  rollout::StepSettings settings = recipe_.run.step;
  settings.learn = false;
  DAVINCI_ASSIGN_OR_RETURN(const auto inputs, MakeTaskInputs(held_out_, settings));
  const int segment = kFirstHeldOutSegment + step;
  DAVINCI_ASSIGN_OR_RETURN(const auto model, OpenSampler(policy));
  DAVINCI_ASSIGN_OR_RETURN(const auto outcomes,
                           RollOut(step, segment, policy, model.get(), inputs, settings));
  run_->Release(segment);
  const auto fast = FastPOf(outcomes);
  for (const auto& [p, share] : fast) (*line)["held_out"][p] = share;
  (*line)["seconds"]["held_out"] = watch.Seconds();
  const double score = fast.at("1");
  events_.say(fmt::format("held-out tasks before step {}: {:.0f} % correct, {:.0f} % faster", step,
                          100 * fast.at("0"), 100 * score));
  return std::optional<double>(score);
}

Status Training::Flush(int step, const std::vector<rollout::TaskOutcome>& outcomes,
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
  const Learned learned = CollectLearned(outcomes, recipe_.run.step,
                                         run_->folder().filename().string(), library_.get());
  DAVINCI_ASSIGN_OR_RETURN(const skill::FlushResult flushed, FlushStep(*library_, step, learned));
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

Status Training::Learn(int step, TrainingBatch& batch, ordered_json* line) {
  (*line)["samples"] = batch.samples.size();
  PolicyUpdate policy(recipe_, learner_.get(), step);
  DAVINCI_RETURN_IF_ERROR(policy.Compare(&batch, line));
  if (critic_ != nullptr) {
    const Stopwatch watch;
    DAVINCI_RETURN_IF_ERROR(critic_->Assess(&batch, line));
    trainer::ScheduleSettings schedule = recipe_.common.schedule;
    schedule.learning_rate = recipe_.algorithm.critic.learning_rate;
    DAVINCI_RETURN_IF_ERROR(
        critic_->Update(trainer::LearningRate(schedule, step - 1, recipe_.steps), line));
    (*line)["seconds"]["critic"] = watch.Seconds();
    // While the critic is pretrained nothing of the step trains the policy.
    if (!critic_->open())
      for (rl::TrainingSample& sample : batch.samples) sample.trained = false;
  }
  return policy.Apply(
      batch, trainer::LearningRate(recipe_.common.schedule, step - 1, recipe_.steps), line);
}

Result<Training::Prepared> Training::Prepare(int step, int newest,
                                             const Ahead<Prepared>::Await& await) {
  Prepared prepared;
  ordered_json& line = prepared.line;
  line = {{"step", step}, {"began_unix_s", NowUnixSeconds()}};
  prepared.policy = newest;
  DAVINCI_ASSIGN_OR_RETURN(auto inputs, TasksOf(next_segment_, &prepared.policy));
  // What was recorded may have been sampled by weights that this process still has to train.
  if (!await(prepared.policy)) return Cancelled("the steps before this one have failed");
  DAVINCI_ASSIGN_OR_RETURN(prepared.held_out, HeldOut(step, prepared.policy, &line));
  const Stopwatch watch;
  const LaneStats model_before = engine_.llm_lane.stats();
  const LaneStats judge_before = engine_.judge_lane.stats();
  DAVINCI_ASSIGN_OR_RETURN(prepared.sampled, Sample(step, prepared.policy, std::move(inputs)));
  const Sampled& sampled = prepared.sampled;
  for (const auto& [p, share] : FastPOf(sampled.outcomes)) line["fast_p"][p] = share;
  const auto idle = [](const LaneStats& before, const LaneStats& after) {
    const double open = after.places * (after.open_seconds - before.open_seconds);
    return open > 0 ? 1 - std::min(1.0, (after.busy_seconds - before.busy_seconds) / open) : 0.0;
  };
  line["idle"] = {{"model", idle(model_before, engine_.llm_lane.stats())},
                  {"judge", idle(judge_before, engine_.judge_lane.stats())}};
  DAVINCI_RETURN_IF_ERROR(Flush(step, sampled.outcomes, &line));
  line["seconds"]["rollout"] = watch.Seconds();
  line["seconds"]["opening"] = sampled.opening_seconds;  // within rollout
  line["batches"] = sampled.batches;
  const TrainingBatch& batch = sampled.batch;
  if (batch.samples.empty())
    return FailedPrecondition(fmt::format(
        "step {}: no reply has its tokens; training needs the embedded model's traces", step));
  for (const auto& [name, value] : batch.figures) {
    const size_t slash = name.find('/');
    line[name.substr(0, slash)][name.substr(slash + 1)] = value;
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto skills, library_->All());
  line["library"] = skills.size();
  if (ranks_ != nullptr) line["ranks"] = ranks_->world().size;
  return prepared;
}

void Training::Observe(Prepared* prepared) {
  std::vector<rl::ReplyView> replies;
  for (const rl::TrainingSample& sample : prepared->sampled.batch.samples)
    replies.push_back({sample.output, -1, sample.turn});
  const rl::CollapseReading reading = monitor_.Observe(replies);
  prepared->line["replies"] = {{"length", reading.mean_length},
                               {"repetition", reading.repetition},
                               {"first_token_drift", reading.first_token_drift}};
  for (const std::string& alert : reading.alerts) events_.say("warning: " + alert);
  if (prepared->held_out && (!best_ || *prepared->held_out > best_score_)) {
    best_ = prepared->policy;
    best_score_ = *prepared->held_out;
  }
}

Status Training::TrainStep(int step, Prepared* prepared) {
  ordered_json& line = prepared->line;
  line["training_began_unix_s"] = NowUnixSeconds();
  const Stopwatch training;
  TrainingBatch& batch = prepared->sampled.batch;
  if (const Status shared = ShareBatch(ranks_, &batch); !shared.ok()) return Fail(shared);
  if (const Status learned = Learn(step, batch, &line); !learned.ok()) return Fail(learned);
  // A line without its checkpoint is dropped and written again; a checkpoint has its line.
  line["seconds"]["former_checkpoint"] = saving_seconds_;
  const double waited = line["seconds"]["trainer_waited"];
  line["idle"]["trainer"] = waited / (waited + training.Seconds() + saving_seconds_);
  if (const Status written = log_->Write(line); !written.ok()) return Fail(written);
  const Stopwatch saving;
  for (int i = 0; i < prepared->sampled.batches; ++i) run_->Release(++batches_);
  DAVINCI_RETURN_IF_ERROR(Save(step));
  saving_seconds_ = saving.Seconds();
  done_ = step;
  events_.say(fmt::format(
      "step {}/{}  reward {:.3f}  correct {:.0f} %  faster {:.0f} %  {} sequences trained  "
      "parity "
      "{:.1e}  norm {:.3g}  rollouts {:.0f} s, update {:.1f} s{}",
      step, recipe_.steps, batch.figures["reward/policy"], 100 * batch.figures["turns/correct"],
      100 * batch.figures["turns/faster"], line["trained_sequences"].get<int64_t>(),
      line.contains("parity") ? line["parity"]["mean"].get<double>() : 0.0,
      line.value("gradient_norm", 0.0), line["seconds"]["rollout"].get<double>(),
      line["seconds"]["update"].get<double>(), eta_->Text(step)));
  return Status::Ok();
}

Status Training::TrainSteps() {
  eta_.emplace(done_, recipe_.steps);
  next_segment_ = batches_ + 1;
  Ahead<Prepared> ahead(
      done_, recipe_.steps, recipe_.max_staleness,
      [&](int step, int newest, const auto& await) { return Prepare(step, newest, await); });
  const auto train = [&](int step) -> Status {
    auto next = ahead.Take();
    DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks_, next.made.status()));
    Prepared prepared = std::move(next.made).value();
    Observe(&prepared);
    ordered_json& line = prepared.line;
    const double rollout = line["seconds"]["rollout"];
    line["seconds"]["trainer_waited"] = next.waited_seconds;
    line["seconds"]["rollouts_waited"] = next.held_seconds;
    line["idle"]["rollouts"] = next.held_seconds / std::max(next.held_seconds + rollout, 1e-9);
    return TrainStep(step, &prepared);
  };
  while (done_ < recipe_.steps) {
    if (const Status trained = train(done_ + 1); !trained.ok()) {
      stop_->Stop(TrajectoryEnd::kFailed, trained);  // rollouts that are under way
      return trained;
    }
    ahead.Done(done_);
  }
  return Status::Ok();
}

Result<TrainOutcome> Training::Run() {
  DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks_, OpenTasks()));
  DAVINCI_RETURN_IF_ERROR(OpenLearner());
  DAVINCI_RETURN_IF_ERROR(TrainSteps());
  outcome_.steps = done_;
  outcome_.updates = learner_->Facts().updates;
  return outcome_;
}

}  // namespace

Result<TrainOutcome> ExecuteTraining(const TrainRequest& request, const TrainParts& parts,
                                     rollout::StopFlag* stop, const TrainEvents& events) {
  DAVINCI_RETURN_IF_ERROR(CheckRanks(request));
  auto run = OpenRun(request.folder, request.header, request.resolved);
  DAVINCI_RETURN_IF_ERROR(comm::Agree(request.ranks, run.status()));
  return Training(request, parts, stop, events, std::move(run).value()).Run();
}

// Says the same to the group, in the same order, as ExecuteTraining.
Status AssistTraining(const TrainRequest& request) {
  comm::RankGroup* const ranks = request.ranks;
  const TrainRecipe& recipe = request.recipe;
  const auto fail = [&](const Status& status) {
    ranks->Abort(status);
    return status;
  };
  DAVINCI_RETURN_IF_ERROR(CheckRanks(request));
  DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks, Status::Ok()));  // the run's folder
  DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks, Status::Ok()));  // tasks
  DAVINCI_ASSIGN_OR_RETURN(const std::string newest, FromRank0(ranks, ""));
  DAVINCI_ASSIGN_OR_RETURN(const auto learner, OpenRankLearner(request));
  const fs::path checkpoints = request.folder / "checkpoints";
  const trainer::CheckpointSource source{recipe.common.learner.model_dir,
                                         recipe.common.learner.lora};
  const auto save = [&](int step) -> Status {
    DAVINCI_RETURN_IF_ERROR(
        trainer::WriteCheckpoint(checkpoints, step, *learner, source, json()).status());
    return comm::Agree(ranks, Status::Ok());  // older ones removed
  };
  int done = 0;
  if (newest.empty()) {
    DAVINCI_RETURN_IF_ERROR(save(0));
  } else {
    done = std::atoi(newest.c_str());
    DAVINCI_RETURN_IF_ERROR(
        trainer::ReadCheckpoint(trainer::CheckpointPath(checkpoints, done), *learner).status());
  }
  for (int step = done + 1; step <= recipe.steps; ++step) {
    DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks, Status::Ok()));  // sampled and judged
    TrainingBatch batch;
    if (const Status shared = ShareBatch(ranks, &batch); !shared.ok()) return fail(shared);
    PolicyUpdate policy(recipe, learner.get(), step);
    ordered_json line;  // rank 0 writes it
    Status learned = policy.Compare(&batch, &line);
    if (learned.ok())
      learned = policy.Apply(
          batch, trainer::LearningRate(recipe.common.schedule, step - 1, recipe.steps), &line);
    if (!learned.ok()) return fail(learned);
    DAVINCI_RETURN_IF_ERROR(save(step));
  }
  return Status::Ok();
}

}  // namespace davinci::orchestrator
