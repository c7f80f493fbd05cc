#include "davinci/orchestrator/train_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "davinci/orchestrator/run_library.h"
#include "davinci/orchestrator/task_inputs.h"
#include "davinci/orchestrator/training_batch.h"
#include "davinci/rl/collapse_monitor.h"
#include "davinci/trainer/checkpoint.h"
#include "davinci/trainer/estimate.h"
#include "davinci/trainer/objectives.h"
#include "davinci/trainer/run_log.h"
#include "davinci/trainer/sft_rows.h"

namespace davinci::orchestrator {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

// The order in which an epoch draws tasks: a function of seed and epoch alone.
std::vector<size_t> OrderOf(int64_t seed, int64_t epoch, size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  SplitMix64 rng(static_cast<uint64_t>(seed) * 0x9e3779b97f4a7c15ULL +
                 static_cast<uint64_t>(epoch));
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  return order;
}

// A sequence to differentiate, and for each of its targets which token of which sample it is.
struct Sequence {
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;
  std::vector<std::pair<size_t, size_t>> sources;
};

std::vector<Sequence> SequencesOf(const TrainingBatch& batch, rl::Packing* packing) {
  std::vector<std::vector<const rl::TrainingSample*>> trajectories;
  std::vector<size_t> flat;  // the packing's sample index -> the batch's
  for (const TrainUnit& unit : batch.units) {
    auto& trajectory = trajectories.emplace_back();
    for (const size_t i : unit.samples) {
      trajectory.push_back(&batch.samples[i]);
      flat.push_back(i);
    }
  }
  *packing = rl::PackTrajectories(trajectories);
  std::vector<Sequence> sequences;
  for (const rl::PackedSequence& packed : packing->sequences) {
    Sequence& sequence = sequences.emplace_back();
    sequence.tokens = packed.tokens;
    for (const rl::TurnSpan& span : packed.turns) {
      const size_t sample = flat[span.sample];
      if (!batch.samples[sample].trained) continue;
      for (size_t at = span.begin; at < span.end; ++at) {
        if (at == 0) continue;
        sequence.targets.push_back(static_cast<int32_t>(at));
        sequence.sources.emplace_back(sample, at - span.begin);
      }
    }
  }
  std::erase_if(sequences, [](const Sequence& sequence) { return sequence.targets.empty(); });
  return sequences;
}

std::vector<std::vector<size_t>> BinsOf(const std::vector<Sequence>& sequences,
                                        std::span<const size_t> members, int64_t tokens_per_pass) {
  std::vector<int64_t> lengths;
  for (const size_t i : members)
    lengths.push_back(static_cast<int64_t>(sequences[i].tokens.size()));
  auto bins = rl::PackBins(lengths, tokens_per_pass);
  for (auto& bin : bins)
    for (size_t& i : bin) i = members[i];
  return bins;
}

std::vector<trainer::SequenceView> ViewsOf(const std::vector<Sequence>& sequences,
                                           std::span<const size_t> bin) {
  std::vector<trainer::SequenceView> views;
  for (const size_t i : bin) views.push_back({sequences[i].tokens, sequences[i].targets});
  return views;
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
        log_(run_.get(), rollout::UnitLog::Mode::kLive,
             [this](const Status& why) { stop_->Stop(TrajectoryEnd::kFailed, why); }),
        judge_places_(JudgePlaces(recipe_.run.judge, parts.num_cores)),
        llm_lane_("language model", recipe_.run.llm.concurrency),
        judge_lane_("judge", judge_places_),
        rollout_lane_("rollouts", RolloutPlaces(recipe_.run, judge_places_)),
        verdicts_(&log_, parts.evaluator, &judge_lane_, parts.verdict_cache),
        monitor_(rl::CollapseOptions{}) {}

  Result<TrainOutcome> Run();

 private:
  Status OpenTasks();
  Status OpenLearner();
  Result<std::vector<rollout::TaskInput>> TasksOf(int step);
  Result<std::vector<rollout::TaskOutcome>> RollOut(int step);
  Status Flush(int step, const std::vector<rollout::TaskOutcome>& outcomes);
  Status Learn(int step, TrainingBatch& batch, ordered_json* line);
  // Log-probabilities of the trainer for every target, before the update; fills parity figures and
  // drops what mismatch rejects. `weights`: importance weights by sample and token.
  Status Compare(TrainingBatch& batch, std::vector<Sequence>& sequences,
                 std::vector<std::vector<float>>* trainer_log_probs,
                 std::vector<std::vector<float>>* weights, ordered_json* line);
  Status Save(int step);
  fs::path Checkpoints() const { return run_->folder() / "checkpoints"; }
  bool lora() const { return recipe_.common.learner.lora.rank > 0; }

  const TrainRequest& request_;
  const TrainRecipe& recipe_;
  const TrainParts& parts_;
  rollout::StopFlag* const stop_;
  const TrainEvents& events_;
  const std::unique_ptr<store::RunStore> run_;
  rollout::UnitLog log_;
  const int judge_places_;
  rollout::Lane llm_lane_;
  rollout::Lane judge_lane_;
  rollout::Lane rollout_lane_;
  rollout::Verdicts verdicts_;
  rl::CollapseMonitor monitor_;
  std::vector<TaskEntry> tasks_;
  std::unique_ptr<skill::Library> library_;
  std::unique_ptr<trainer::Learner> learner_;
  int done_ = 0;  // steps that have a checkpoint
  TrainOutcome outcome_;
};

Status Training::OpenTasks() {
  if (recipe_.tasks.empty()) return InvalidArgument("train.tasks names no file or folder");
  DAVINCI_ASSIGN_OR_RETURN(tasks_, LoadTasks(recipe_.tasks, {}));
  DAVINCI_ASSIGN_OR_RETURN(library_, OpenRunLibrary(run_->folder(), request_.library_sources));
  return Status::Ok();
}

Status Training::OpenLearner() {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(Checkpoints()));
  DAVINCI_ASSIGN_OR_RETURN(const auto steps, trainer::ListCheckpoints(Checkpoints()));
  DAVINCI_ASSIGN_OR_RETURN(learner_, trainer::OpenLearner(recipe_.common.learner));
  if (steps.empty()) return Save(0);
  done_ = static_cast<int>(steps.back());
  const fs::path newest = trainer::CheckpointPath(Checkpoints(), done_);
  DAVINCI_RETURN_IF_ERROR(trainer::ReadCheckpoint(newest, *learner_).status());
  outcome_.checkpoint = newest;
  events_.say(fmt::format("goes on behind step {}", done_));
  return Status::Ok();
}

Status Training::Save(int step) {
  json state = {{"command", "train"},
                {"step", step},
                {"task_cursor", static_cast<int64_t>(step) * recipe_.tasks_per_step},
                {"library_step", step},
                {"journal_segment", step},
                {"seed", recipe_.common.seed}};
  const trainer::CheckpointSource source{recipe_.common.learner.model_dir,
                                         recipe_.common.learner.lora};
  DAVINCI_ASSIGN_OR_RETURN(
      outcome_.checkpoint,
      trainer::WriteCheckpoint(Checkpoints(), step, *learner_, source, std::move(state)));
  return trainer::PruneCheckpoints(Checkpoints(), recipe_.common.checkpoint.keep_last,
                                   std::nullopt);
}

Result<std::vector<rollout::TaskInput>> Training::TasksOf(int step) {
  std::vector<TaskEntry> entries;
  const auto per_step =
      std::min<size_t>(static_cast<size_t>(recipe_.tasks_per_step), tasks_.size());
  const size_t per_epoch = tasks_.size() / per_step;
  const auto index = static_cast<size_t>(step - 1);
  const auto order =
      OrderOf(recipe_.common.seed, static_cast<int64_t>(index / per_epoch), tasks_.size());
  for (size_t i = 0; i < per_step; ++i)
    entries.push_back(tasks_[order[index % per_epoch * per_step + i]]);
  // Rows become files of the run.
  std::vector<TaskEntry> rows;
  for (const TaskEntry& entry : entries)
    if (entry.path.empty()) rows.push_back(entry);
  if (!rows.empty()) {
    DAVINCI_RETURN_IF_ERROR(MakeDirs(run_->folder() / "tasks"));
    DAVINCI_RETURN_IF_ERROR(WriteTaskFiles(run_->folder() / "tasks", &rows));
    size_t next = 0;
    for (TaskEntry& entry : entries)
      if (entry.path.empty()) entry.path = rows[next++].path;
  }
  return MakeTaskInputs(entries, recipe_.run.step);
}

Result<std::vector<rollout::TaskOutcome>> Training::RollOut(int step) {
  DAVINCI_ASSIGN_OR_RETURN(const auto inputs, TasksOf(step));
  const fs::path newest = trainer::CheckpointPath(Checkpoints(), step - 1);
  DAVINCI_ASSIGN_OR_RETURN(
      const std::unique_ptr<llm::Backbone> model,
      parts_.open_model(lora() ? fs::path(recipe_.common.learner.model_dir) : newest,
                        lora() ? newest : fs::path()));
  rollout::ModelCalls calls(&log_, rollout::Backbones(model.get()), &llm_lane_);
  rollout::StepContext context;
  context.log = &log_;
  context.calls = &calls;
  context.verdicts = &verdicts_;
  context.library = library_.get();
  context.prompts = parts_.prompts;
  context.device = parts_.device;
  context.rollout_lane = &rollout_lane_;
  context.stop = stop_;
  context.observer = events_.step;
  auto outcomes =
      rollout::RunStep(context, recipe_.run.step, step, inputs, recipe_.run.tasks_in_flight);
  if (stop_->stopped()) {
    const Status why = stop_->why();
    return why.ok() ? Cancelled("stopped; the same command goes on") : why;
  }
  DAVINCI_RETURN_IF_ERROR(log_.broken());
  for (const rollout::TaskOutcome& outcome : outcomes)
    if (!outcome.status.ok())
      return outcome.status.Annotate(fmt::format("task {} of step {}", outcome.task, step));
  return outcomes;
}

Status Training::Flush(int step, const std::vector<rollout::TaskOutcome>& outcomes) {
  if (!recipe_.run.step.learn) return Status::Ok();
  const Learned learned = CollectLearned(outcomes, recipe_.run.step,
                                         run_->folder().filename().string(), library_.get());
  return FlushStep(*library_, step, learned).status();
}

Status Training::Compare(TrainingBatch& batch, std::vector<Sequence>& sequences,
                         std::vector<std::vector<float>>* trainer_log_probs,
                         std::vector<std::vector<float>>* weights, ordered_json* line) {
  std::vector<size_t> all(sequences.size());
  std::iota(all.begin(), all.end(), size_t{0});
  trainer_log_probs->resize(batch.samples.size());
  weights->resize(batch.samples.size());
  for (size_t i = 0; i < batch.samples.size(); ++i)
    (*trainer_log_probs)[i].resize(batch.samples[i].output.size());
  std::array<double, 3> entropy{};
  std::array<int64_t, 3> tokens{};
  trainer::PassOptions options;
  options.temperature = recipe_.run.step.policy_sampling.temperature;
  options.entropies = true;
  for (const auto& bin : BinsOf(sequences, all, recipe_.common.tokens_per_pass)) {
    DAVINCI_ASSIGN_OR_RETURN(const trainer::PassResult result,
                             learner_->Evaluate(ViewsOf(sequences, bin), options));
    size_t next = 0;
    for (const size_t s : bin)
      for (const auto& [sample, token] : sequences[s].sources) {
        const auto agent = static_cast<size_t>(batch.samples[sample].agent);
        entropy[agent] += result.entropies[next];
        ++tokens[agent];
        (*trainer_log_probs)[sample][token] = result.outputs[next++];
      }
  }
  const TrainAlgorithm& algorithm = recipe_.algorithm;
  double sum = 0;
  double largest = 0;
  int64_t count = 0;
  std::array<int64_t, 3> kept{};
  std::array<int64_t, 3> seen{};
  int64_t in_band = 0;
  int64_t replies = 0;
  for (const TrainUnit& unit : batch.units) {
    std::vector<double> ratios;
    for (const size_t i : unit.samples) {
      const rl::TrainingSample& sample = batch.samples[i];
      if (!sample.trained) continue;
      std::vector<double> own;
      for (size_t t = 0; t < sample.output.size(); ++t) {
        const double d = static_cast<double>((*trainer_log_probs)[i][t]) - sample.log_probs[t];
        own.push_back(d);
        sum += std::abs(d);
        largest = std::max(largest, std::abs(d));
        ++count;
      }
      ++replies;
      in_band += rl::AssessMismatch(own, algorithm.band).verdict == rl::MismatchVerdict::kKept;
      if (algorithm.mismatch == MismatchRule::kWeigh) {
        const auto found = rl::TokenImportanceWeights(own, algorithm.importance_cap);
        (*weights)[i].assign(found.begin(), found.end());
      }
      ratios.insert(ratios.end(), own.begin(), own.end());
    }
    if (ratios.empty()) continue;
    const auto agent = static_cast<size_t>(batch.samples[unit.samples.front()].agent);
    ++seen[agent];
    const bool keeps =
        algorithm.mismatch != MismatchRule::kReject ||
        rl::AssessMismatch(ratios, algorithm.band).verdict == rl::MismatchVerdict::kKept;
    if (keeps) {
      ++kept[agent];
    } else {
      for (const size_t i : unit.samples) batch.samples[i].trained = false;
    }
  }
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  (*line)["parity"] = {{"mean", count > 0 ? sum / static_cast<double>(count) : 0},
                       {"max", largest},
                       {"in_band", share(in_band, replies)},
                       {"replies", replies}};
  for (size_t agent = 0; agent < 3; ++agent) {
    if (seen[agent] == 0) continue;
    const std::string name(trainer::AgentKindName(static_cast<rl::AgentKind>(agent)));
    (*line)["accepted"][name] = share(kept[agent], seen[agent]);
    (*line)["entropy"][name] = entropy[agent] / static_cast<double>(tokens[agent]);
  }
  return Status::Ok();
}

Status Training::Learn(int step, TrainingBatch& batch, ordered_json* line) {
  const TrainAlgorithm& algorithm = recipe_.algorithm;
  rl::Packing packing;
  std::vector<Sequence> sequences = SequencesOf(batch, &packing);
  (*line)["computed_twice"] = packing.twice_share();
  (*line)["samples"] = batch.samples.size();
  std::vector<std::vector<float>> old_log_probs;
  std::vector<std::vector<float>> importance;
  if (!sequences.empty()) {
    const Stopwatch watch;
    DAVINCI_RETURN_IF_ERROR(Compare(batch, sequences, &old_log_probs, &importance, line));
    (*line)["seconds"]["parity"] = watch.Seconds();
    sequences = SequencesOf(batch, &packing);  // without what was rejected
  }
  const Stopwatch watch;
  const double rate = trainer::LearningRate(recipe_.common.schedule, step - 1, recipe_.steps);
  std::array<trainer::PolicySums, trainer::kNumAgents> sums;
  int64_t tokens = 0;
  int applied = 0;
  double norm = 0;
  double flops = 0;
  const auto parts =
      std::min<size_t>(static_cast<size_t>(recipe_.updates_per_step), sequences.size());
  for (size_t part = 0; part < parts; ++part) {
    std::vector<size_t> members;
    for (size_t i = part; i < sequences.size(); i += parts) members.push_back(i);
    // A sample is the loss's sequence: its tokens share one weight.
    std::vector<size_t> samples;
    for (const size_t s : members)
      for (const auto& [sample, token] : sequences[s].sources)
        if (samples.empty() || samples.back() != sample) samples.push_back(sample);
    std::vector<int64_t> lengths;
    for (const size_t i : samples)
      lengths.push_back(static_cast<int64_t>(batch.samples[i].output.size()));
    const auto token_weights = rl::TokenWeights(algorithm.aggregation, lengths, algorithm.divisor);
    std::vector<double> weight_of(batch.samples.size(), 0);
    for (size_t i = 0; i < samples.size(); ++i) weight_of[samples[i]] = token_weights[i];
    trainer::PassOptions options;
    options.temperature = recipe_.run.step.policy_sampling.temperature;
    for (const auto& bin : BinsOf(sequences, members, recipe_.common.tokens_per_pass)) {
      std::vector<trainer::PolicyTarget> targets;
      for (const size_t s : bin) {
        tokens += static_cast<int64_t>(sequences[s].tokens.size());
        flops += trainer::ModelFlops(learner_->config(),
                                     static_cast<int64_t>(sequences[s].tokens.size()),
                                     static_cast<int64_t>(sequences[s].targets.size()));
        for (const auto& [i, t] : sequences[s].sources) {
          const rl::TrainingSample& sample = batch.samples[i];
          const double weighed = importance[i].empty() ? 1 : importance[i][t];
          targets.push_back({static_cast<float>(sample.advantage), old_log_probs[i][t],
                             static_cast<float>(weight_of[i] * weighed), sample.agent});
        }
      }
      trainer::PolicyObjective objective(algorithm.clip, targets);
      DAVINCI_RETURN_IF_ERROR(
          learner_->Accumulate(ViewsOf(sequences, bin), options, std::ref(objective)).status());
      for (size_t agent = 0; agent < trainer::kNumAgents; ++agent)
        sums[agent].Add(objective.by_agent()[agent]);
    }
    DAVINCI_ASSIGN_OR_RETURN(const trainer::Update update, learner_->Step(rate));
    applied += update.applied;
    norm = update.gradient_norm;
  }
  learner_->Synchronize();
  const double seconds = watch.Seconds();
  (*line)["updates"] = applied;
  (*line)["skipped_updates"] = learner_->Facts().skipped_updates;
  (*line)["learning_rate"] = rate;
  if (parts > 0 && std::isfinite(norm)) (*line)["gradient_norm"] = norm;
  (*line)["trained_sequences"] = sequences.size();
  (*line)["trained_tokens"] = packing.num_trained;
  (*line)["seconds"]["update"] = seconds;
  if (tokens > 0) {
    (*line)["tokens_per_second"] = static_cast<double>(tokens) / seconds;
    (*line)["model_tflops"] = flops / seconds * 1e-12;
  }
  for (size_t agent = 0; agent < trainer::kNumAgents; ++agent) {
    const trainer::PolicySums& own = sums[agent];
    if (own.tokens == 0) continue;
    const std::string name(trainer::AgentKindName(static_cast<rl::AgentKind>(agent)));
    const auto count = static_cast<double>(own.tokens);
    (*line)["loss"][name] = own.loss;
    (*line)["clipped"][name] = {{"low", own.clipped_low / count},
                                {"high", own.clipped_high / count},
                                {"dual", own.clipped_dual / count}};
    (*line)["kl"][name] = own.kl / count;
  }
  return Status::Ok();
}

Result<TrainOutcome> Training::Run() {
  DAVINCI_RETURN_IF_ERROR(OpenTasks());
  DAVINCI_RETURN_IF_ERROR(OpenLearner());
  DAVINCI_ASSIGN_OR_RETURN(auto log, trainer::RunLog::Open(run_->folder(), done_));
  for (int step = done_ + 1; step <= recipe_.steps; ++step) {
    ordered_json line = {{"step", step}};
    const Stopwatch watch;
    DAVINCI_ASSIGN_OR_RETURN(const auto outcomes, RollOut(step));
    DAVINCI_RETURN_IF_ERROR(Flush(step, outcomes));
    line["seconds"]["rollout"] = watch.Seconds();
    DAVINCI_ASSIGN_OR_RETURN(TrainingBatch batch, MakeTrainingBatch(outcomes, recipe_, log_));
    if (batch.samples.empty())
      return FailedPrecondition(fmt::format(
          "step {}: no reply has its tokens; training needs the embedded model's traces", step));
    for (const auto& [name, value] : batch.figures) {
      const size_t slash = name.find('/');
      line[name.substr(0, slash)][name.substr(slash + 1)] = value;
    }
    std::vector<rl::ReplyView> replies;
    for (const rl::TrainingSample& sample : batch.samples)
      replies.push_back({sample.output, -1, sample.turn});
    const rl::CollapseReading reading = monitor_.Observe(replies);
    line["replies"] = {{"length", reading.mean_length},
                       {"repetition", reading.repetition},
                       {"first_token_drift", reading.first_token_drift}};
    for (const std::string& alert : reading.alerts) events_.say("warning: " + alert);
    DAVINCI_RETURN_IF_ERROR(Learn(step, batch, &line));
    const Stopwatch saving;
    DAVINCI_RETURN_IF_ERROR(Save(step));
    line["seconds"]["checkpoint"] = saving.Seconds();
    DAVINCI_ASSIGN_OR_RETURN(const auto skills, library_->All());
    line["library"] = skills.size();
    DAVINCI_RETURN_IF_ERROR(log.Write(line));
    run_->Release(step);
    done_ = step;
    events_.say(fmt::format(
        "step {}/{}  reward {:.3f}  correct {:.0f} %  faster {:.0f} %  {} sequences trained  "
        "parity "
        "{:.1e}  norm {:.3g}  rollouts {:.0f} s, update {:.1f} s",
        step, recipe_.steps, batch.figures["reward/policy"], 100 * batch.figures["turns/correct"],
        100 * batch.figures["turns/faster"], line["trained_sequences"].get<int64_t>(),
        line.contains("parity") ? line["parity"]["mean"].get<double>() : 0.0,
        line.value("gradient_norm", 0.0), line["seconds"]["rollout"].get<double>(),
        line["seconds"]["update"].get<double>()));
  }
  outcome_.steps = done_;
  outcome_.updates = learner_->Facts().updates;
  return outcome_;
}

}  // namespace

Result<TrainOutcome> ExecuteTraining(const TrainRequest& request, const TrainParts& parts,
                                     rollout::StopFlag* stop, const TrainEvents& events) {
  DAVINCI_ASSIGN_OR_RETURN(auto run, OpenRun(request.folder, request.header, request.resolved));
  return Training(request, parts, stop, events, std::move(run)).Run();
}

Result<std::string> DescribeTraining(const TrainRecipe& recipe) {
  const rollout::StepSettings& step = recipe.run.step;
  const int schemes = step.schemes + (step.null_scheme ? 1 : 0);
  const int64_t rollouts = int64_t{recipe.tasks_per_step} * schemes * step.rollouts;
  std::string text;
  text += fmt::format("steps      {} of {} tasks, {} update(s) each\n", recipe.steps,
                      recipe.tasks_per_step, recipe.updates_per_step);
  text += fmt::format(
      "rollouts   {} schemes x {} x {} turns: {} selection calls, {} rollouts, {} turns a step\n",
      schemes, step.rollouts, step.turns, recipe.tasks_per_step * step.schemes, rollouts,
      rollouts * step.turns);
  if (recipe.common.learner.model_dir.empty()) return text + "model      model.path is not set\n";
  DAVINCI_ASSIGN_OR_RETURN(const auto config,
                           weights::LoadModelConfig(recipe.common.learner.model_dir));
  const trainer::LearnerOptions& learner = recipe.common.learner;
  const bool bf16 = learner.compute == trainer::Compute::kBfloat16 ||
                    (learner.compute == trainer::Compute::kAuto && learner.device != "cpu");
  const auto cost = trainer::EstimateMemory(config, learner, bf16, recipe.common.tokens_per_pass);
  const auto gib = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  const int64_t trained = rollouts * step.turns * step.policy_sampling.max_tokens;
  text += fmt::format("model      {} {} M parameters, {} M trained, {}\n",
                      weights::FamilyName(config.family), cost.parameters / 1000000,
                      cost.trained_parameters / 1000000, bf16 ? "bf16" : "fp32");
  text +=
      fmt::format("memory     about {:.2f} GiB for training, {:.2f} GiB of weights for sampling\n",
                  gib(cost.total_bytes()), gib(cost.parameters * (bf16 ? 2 : 4)));
  text += fmt::format(
      "update     at most {} sampled tokens; {:.3g} s on one H200 (at 400 TFLOP/s)\n", trained,
      8.0 * static_cast<double>(cost.parameters) * static_cast<double>(trained) / 4e14);
  return text;
}

}  // namespace davinci::orchestrator
