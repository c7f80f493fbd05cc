#include "davinci/training/train_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/duration.h"
#include "davinci/trainer/checkpoint.h"
#include "davinci/trainer/run_log.h"
#include "davinci/training/train_critic.h"
#include "davinci/training/train_monitor.h"
#include "davinci/training/train_policy.h"
#include "davinci/training/train_ranks.h"
#include "davinci/training/train_replay.h"
#include "davinci/training/train_sampling.h"

namespace davinci::training {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

// One object on each rank; members of rank 0 alone say so.
class Training {
 public:
  Training(const TrainRequest& request, const TrainParts& parts, rollout::StopFlag* stop,
           const TrainEvents& events)
      : request_(request),
        recipe_(request.recipe),
        parts_(parts),
        stop_(stop),
        events_(events),
        ranks_(request.ranks),
        monitor_(request.recipe.algorithm.collapse) {}

  Result<TrainOutcome> Run();

 private:
  // Rank 0 alone calls this.
  Status OpenSampling();
  Status OpenLearner();
  Status Step(int step);
  Status Learn(int step, TrainSampling::Step* sampled, PolicyUpdate* policy);
  Status Save(int step);
  // Rank 0 alone calls this: it derives figures from the update and writes the log.
  Status Conclude(TrainSampling::Step* sampled, const PolicyUpdate& policy, double seconds);
  Status Keep(const TrainSampling::Evaluated& evaluated);
  Status EvaluateRest();
  Status Take(TrainSampling::Step* sampled);
  Status OpenLog();
  void Say(int step, const TrainSampling::Step& sampled) const;
  json StateAt(int step) const;
  Status Restore(const json& state);
  fs::path Checkpoints() const { return request_.folder / "checkpoints"; }

  const TrainRequest& request_;
  const TrainRecipe& recipe_;
  const TrainParts& parts_;
  rollout::StopFlag* const stop_;
  const TrainEvents& events_;
  const TrainRanks ranks_;
  std::unique_ptr<trainer::Learner> learner_;
  std::unique_ptr<TrainCritic> critic_;  // null without one
  std::unique_ptr<TrainReplay> replay_;  // null without rows
  int done_ = 0;                         // steps that have a checkpoint
  TrainOutcome outcome_;

  // Rank 0's.
  std::unique_ptr<TrainSampling> sampling_;
  std::optional<trainer::RunLog> log_;
  TrainMonitor monitor_;
  int batches_ = 0;  // of tasks, that the steps rolled out
  HeldOutScore best_score_;
  double saving_seconds_ = 0;  // of the newest checkpoint
  std::optional<Eta> eta_;     // of the steps
};

Status Training::OpenSampling() {
  DAVINCI_ASSIGN_OR_RETURN(sampling_, TrainSampling::Open(request_, parts_, stop_, events_));
  return Status::Ok();
}

Status Training::OpenLog() {
  DAVINCI_ASSIGN_OR_RETURN(log_, trainer::RunLog::Open(request_.folder, done_));
  return Status::Ok();
}

Status Training::OpenLearner() {
  // The newest checkpoint's step; "" without one.
  DAVINCI_ASSIGN_OR_RETURN(const std::string newest, ranks_.FromLead([&]() -> std::string {
    const auto steps = trainer::ListCheckpoints(Checkpoints());
    return steps.ok() && !steps->empty() ? std::to_string(steps->back()) : std::string();
  }));
  done_ = newest.empty() ? 0 : std::stoi(newest);
  DAVINCI_RETURN_IF_ERROR(ranks_.Lead([&] { return OpenLog(); }));
  trainer::LearnerOptions options = recipe_.common.learner;
  options.ranks = ranks_.group();
  DAVINCI_ASSIGN_OR_RETURN(learner_, trainer::OpenLearner(options));
  if (recipe_.algorithm.critic.enabled) {
    DAVINCI_ASSIGN_OR_RETURN(critic_, TrainCritic::Open(recipe_));
  }
  if (!recipe_.replay.rows.empty()) {
    DAVINCI_RETURN_IF_ERROR(ranks_.Together([&]() -> Status {
      DAVINCI_ASSIGN_OR_RETURN(replay_, TrainReplay::Open(recipe_));
      return Status::Ok();
    }));
    DAVINCI_RETURN_IF_ERROR(ranks_.CheckSame(replay_->digest(), "rows of replay"));
  }
  if (newest.empty()) return Save(0);
  const fs::path checkpoint = trainer::CheckpointPath(Checkpoints(), done_);
  DAVINCI_ASSIGN_OR_RETURN(
      const json state,
      trainer::ReadCheckpoint(checkpoint, *learner_, critic_ ? &critic_->learner() : nullptr));
  outcome_.checkpoint = checkpoint;
  return ranks_.Lead([&] { return Restore(state); });
}

json Training::StateAt(int step) const {
  json state = {{"command", "train"},          {"step", step},
                {"batches", batches_},         {"library_step", step},
                {"journal_segment", batches_}, {"seed", recipe_.common.seed},
                {"monitors", monitor_.State()}};
  if (critic_ != nullptr) state["critic"] = {{"gate", critic_->State()}};
  if (replay_ != nullptr) state["replay"] = replay_->digest();
  if (outcome_.best)
    state["best"] = {
        {"step", *outcome_.best}, {"fast_1", best_score_.fast_1}, {"correct", best_score_.correct}};
  return state;
}

Status Training::Restore(const json& state) {
  if (critic_ != nullptr) {
    DAVINCI_RETURN_IF_ERROR(critic_->Restore(state["critic"].value("gate", json())));
  }
  if (replay_ != nullptr && state.value("replay", "") != replay_->digest())
    return InvalidArgument(
        "replay.rows: not the rows of the steps before; put these back, or choose another --out");
  DAVINCI_RETURN_IF_ERROR(monitor_.Restore(state.value("monitors", json())));
  batches_ = state.value("batches", done_);
  if (const json best = state.value("best", json()); best.is_object()) {
    outcome_.best = best.value("step", int64_t{0});
    best_score_ = {best.value("fast_1", 0.0), best.value("correct", 0.0)};
  }
  events_.say(fmt::format("continuing after step {}", done_));
  return Status::Ok();
}

Status Training::Save(int step) {
  const trainer::CheckpointSource source{recipe_.common.learner.model_dir,
                                         recipe_.common.learner.lora};
  DAVINCI_ASSIGN_OR_RETURN(outcome_.checkpoint,
                           trainer::WriteCheckpoint(Checkpoints(), step, *learner_, source,
                                                    ranks_.leads() ? StateAt(step) : json(),
                                                    critic_ ? &critic_->learner() : nullptr));
  return ranks_.Lead([&] {
    const trainer::CheckpointSettings& kept = recipe_.common.checkpoint;
    // Those that later steps still sample from, or that are evaluated later, stay.
    const int needed = recipe_.max_staleness > 0 ? recipe_.max_staleness + 2 : 1;
    return trainer::PruneCheckpoints(Checkpoints(), std::max(kept.keep_last, needed),
                                     kept.keep_best ? outcome_.best : std::nullopt);
  });
}

Status Training::Learn(int step, TrainSampling::Step* sampled, PolicyUpdate* policy) {
  TrainingBatch& batch = sampled->batch;
  ordered_json* const line = &sampled->line;
  DAVINCI_RETURN_IF_ERROR(ShareBatch(ranks_.group(), &batch));
  (*line)["samples"] = batch.samples.size();
  DAVINCI_RETURN_IF_ERROR(policy->Compare(&batch, line));
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
  return policy->Apply(
      batch, trainer::LearningRate(recipe_.common.schedule, step - 1, recipe_.steps), line);
}

Status Training::Keep(const TrainSampling::Evaluated& evaluated) {
  const HeldOutScore score = GreedyScore(evaluated.report);
  if (!outcome_.best || score > best_score_) {
    outcome_.best = evaluated.step;
    best_score_ = score;
  }
  events_.say(EvaluationText(evaluated.step, evaluated.report, evaluated.left_out));
  if (evaluated.known) return Status::Ok();
  // An evaluation that is complete has its line.
  ordered_json line = {{"step", evaluated.step},
                       {"held_out", LogFigures(evaluated.report)},
                       {"seconds", {{"held_out", evaluated.seconds}}}};
  if (!evaluated.left_out.empty()) line["left_out"] = evaluated.left_out;
  DAVINCI_RETURN_IF_ERROR(log_.value().Write(line));
  return WriteEvaluation(request_.folder, evaluated.step, evaluated.log, evaluated.left_out,
                         evaluated.report);
}

Status Training::Conclude(TrainSampling::Step* sampled, const PolicyUpdate& policy,
                          double seconds) {
  ordered_json& line = sampled->line;
  for (const std::string& alert : monitor_.Observe(sampled->batch, policy.entropies(), &line))
    events_.say("warning: " + alert);
  batches_ += sampled->batches;
  // A line without its checkpoint is dropped and written again; a checkpoint has its line.
  line["seconds"]["former_checkpoint"] = saving_seconds_;
  const double waited = line["seconds"]["trainer_waited"];
  line["idle"]["trainer"] = waited / (waited + seconds + saving_seconds_);
  return log_.value().Write(line);
}

void Training::Say(int step, const TrainSampling::Step& sampled) const {
  const ordered_json& line = sampled.line;
  const auto& figures = sampled.batch.figures;
  events_.say(fmt::format(
      "step {}/{}  reward {:.3f}  correct {:.0f} %  faster {:.0f} %  {} sequences trained  "
      "parity "
      "{:.1e}  norm {:.3g}  rollouts {:.0f} s, update {:.1f} s{}",
      step, recipe_.steps, figures.at("reward/policy"), 100 * figures.at("turns/correct"),
      100 * figures.at("turns/faster"), line["trained_sequences"].get<int64_t>(),
      line.contains("parity") ? line["parity"]["mean"].get<double>() : 0.0,
      line.value("gradient_norm", 0.0), line["seconds"]["rollout"].get<double>(),
      line["seconds"]["update"].get<double>(), eta_.value().Text(step)));
}

Status Training::Take(TrainSampling::Step* sampled) {
  DAVINCI_ASSIGN_OR_RETURN(*sampled, sampling_->Take());
  return sampled->evaluated ? Keep(*sampled->evaluated) : Status::Ok();
}

Status Training::Step(int step) {
  TrainSampling::Step sampled;
  DAVINCI_RETURN_IF_ERROR(ranks_.Lead([&] { return Take(&sampled); }));
  sampled.line["training_began_unix_s"] = NowUnixSeconds();
  const Stopwatch training;
  PolicyUpdate policy(recipe_, learner_.get(), step, replay_.get());
  std::shared_ptr<void> turn;
  if (request_.take_turn)
    DAVINCI_RETURN_IF_ERROR(ranks_.Together([&]() -> Status {
      DAVINCI_ASSIGN_OR_RETURN(turn, request_.take_turn(learner_->Facts().device));
      return Status::Ok();
    }));
  DAVINCI_RETURN_IF_ERROR(ranks_.Together([&] { return Learn(step, &sampled, &policy); }));
  if (turn != nullptr) learner_->Synchronize();
  turn.reset();
  DAVINCI_RETURN_IF_ERROR(
      ranks_.Lead([&] { return Conclude(&sampled, policy, training.Seconds()); }));
  const Stopwatch saving;
  DAVINCI_RETURN_IF_ERROR(Save(step));
  saving_seconds_ = saving.Seconds();
  done_ = step;
  if (!ranks_.leads()) return Status::Ok();
  Say(step, sampled);
  sampling_->Done(step, batches_);
  return Status::Ok();
}

Status Training::EvaluateRest() {
  DAVINCI_ASSIGN_OR_RETURN(const auto rest, sampling_->EvaluateRest());
  for (const TrainSampling::Evaluated& evaluated : rest) DAVINCI_RETURN_IF_ERROR(Keep(evaluated));
  return Status::Ok();
}

Result<TrainOutcome> Training::Run() {
  if (ranks_.group() != nullptr && recipe_.algorithm.critic.enabled)
    return InvalidArgument(
        "advantage.kind \"gae\": a critic is trained by one process; start davinci train without "
        "mpirun, torchrun or srun");
  DAVINCI_RETURN_IF_ERROR(ranks_.CheckSame(request_.resolved, "recipe"));
  DAVINCI_RETURN_IF_ERROR(ranks_.Lead([&] { return OpenSampling(); }));
  DAVINCI_RETURN_IF_ERROR(OpenLearner());
  if (ranks_.leads()) {
    eta_.emplace(done_, recipe_.steps);
    sampling_->Begin(done_, batches_);
  }
  while (done_ < recipe_.steps) {
    if (const Status trained = Step(done_ + 1); !trained.ok()) {
      if (ranks_.leads()) sampling_->Stop(trained);
      return trained;
    }
  }
  DAVINCI_RETURN_IF_ERROR(ranks_.Lead([&] { return EvaluateRest(); }));
  outcome_.steps = done_;
  outcome_.updates = learner_->Facts().updates;
  return outcome_;
}

}  // namespace

Result<TrainOutcome> ExecuteTraining(const TrainRequest& request, const TrainParts& parts,
                                     rollout::StopFlag* stop, const TrainEvents& events) {
  return Training(request, parts, stop, events).Run();
}

}  // namespace davinci::training
