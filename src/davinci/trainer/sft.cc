#include "davinci/trainer/sft.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "davinci/base/duration.h"
#include "davinci/base/files.h"
#include "davinci/base/number.h"
#include "davinci/comm/agree.h"
#include "davinci/trainer/checkpoint.h"
#include "davinci/trainer/estimate.h"
#include "davinci/trainer/run_log.h"
#include "davinci/trainer/sft_data.h"
#include "davinci/trainer/sft_order.h"
#include "davinci/trainer/sft_passes.h"
#include "davinci/trainer/sft_rows.h"

namespace davinci::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Data {
  SftData train;
  SftData eval;
  std::vector<int64_t> lengths;  // of the examples of `train`, where a curriculum needs them
};

std::vector<size_t> OrderOf(const SftSettings& settings, const Data& data, int64_t epoch) {
  return SftOrder(settings.common.seed, epoch, data.train.sections(), data.lengths,
                  settings.curriculum);
}

Result<Data> LoadData(const SftSettings& settings) {
  if (settings.common.learner.model_dir.empty())
    return InvalidArgument(
        "model.path is not set: a folder with config.json, tokenizer.json and a chat template");
  if (settings.train.empty()) return InvalidArgument("data.train names no file");
  DAVINCI_ASSIGN_OR_RETURN(const SftEncoder encoder,
                           SftEncoder::Open(settings.common.learner.model_dir));
  const bool skip = settings.overlong == "skip";
  Data data;
  DAVINCI_ASSIGN_OR_RETURN(data.train, SftData::Load(settings.train, settings.weights, encoder,
                                                     settings.max_tokens, skip));
  if (EpochSize(data.train.sections()) == 0)
    return InvalidArgument("data.weights leave no example; raise one of them");
  if (!settings.eval.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(data.eval, SftData::Load(std::span(&settings.eval, 1), {}, encoder,
                                                      settings.max_tokens, skip));
  }
  if (settings.curriculum > 0)
    for (size_t i = 0; i < data.train.size(); ++i) data.lengths.push_back(data.train.num_tokens(i));
  return data;
}

int64_t UpdatesPerEpoch(const SftSettings& settings, size_t num_examples) {
  return (static_cast<int64_t>(num_examples) + settings.examples_per_update - 1) /
         settings.examples_per_update;
}

int64_t NumUpdates(const SftSettings& settings, size_t num_examples) {
  const int64_t all = UpdatesPerEpoch(settings, num_examples) * settings.epochs;
  return settings.max_updates > 0 ? std::min(settings.max_updates, all) : all;
}

// The run's recipe; InvalidArgument where the folder holds another run.
Status OpenFolder(const SftRun& run, const std::string& digest) {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(run.folder / "checkpoints"));
  const std::string text = run.resolved + fmt::format("# data {}\n", digest);
  const fs::path path = run.folder / "recipe.toml";
  std::error_code error;
  if (!fs::exists(path, error)) return WriteFileAtomic(path, text);
  DAVINCI_ASSIGN_OR_RETURN(const std::string before, ReadFile(path));
  if (before == text) return Status::Ok();
  const bool data = before.substr(0, before.rfind("# data")) == run.resolved;
  return InvalidArgument(fmt::format(
      "{} holds a run with {}; choose another --out, or remove the folder", run.folder.string(),
      data ? "other data" : "another recipe (see its recipe.toml)"));
}

// A run from its folder to its last checkpoint. Functions whose status every rank shares are marked
// "agreed".
class SftLoop {
 public:
  explicit SftLoop(const SftRun& run)
      : run_(run),
        settings_(run.settings),
        ranks_(run.ranks),
        writes_(run.ranks == nullptr || run.ranks->world().rank == 0),
        checkpoints_(run.folder / "checkpoints"),
        answers_(run.folder / "answers") {}

  // Agreed: data, folder, model; then where the run stands.
  Status Open() {
    DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks_, Prepare()));
    DAVINCI_RETURN_IF_ERROR(CompareRanks());
    LearnerOptions options = settings_.common.learner;
    options.ranks = ranks_;
    DAVINCI_ASSIGN_OR_RETURN(learner_, OpenLearner(options));
    if (update_ > 0) DAVINCI_RETURN_IF_ERROR(Resume());
    Status opened;
    if (writes_) {
      auto log = RunLog::Open(run_.folder, update_);
      opened = log.status();
      if (log.ok()) log_.emplace(std::move(log).value());
    }
    DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks_, opened));
    return update_ > 0 && AnswersDue() ? comm::Agree(ranks_, Answer()) : Status::Ok();
  }

  // Agreed.
  Result<SftOutcome> Train(const CancelToken& cancel) {
    bool stopped = false;
    while (update_ < total_ && !stopped) {
      const auto chosen = NextExamples();
      const auto updated = Update(chosen, cancel);
      if (!updated.ok()) return Fail(updated.status());
      stopped = *updated;
      const bool saves = update_ == total_ || stopped ||
                         update_ % settings_.common.checkpoint.every == 0 ||
                         (settings_.answer_every > 0 && AnswersDue());
      if (const Status status = Evaluate(saves, stopped); !status.ok()) return Fail(status);
      if (const Status status = Report(); !status.ok()) return Fail(status);
      if (saves) DAVINCI_RETURN_IF_ERROR(Save(chosen.size()));
      if (saves && !stopped && AnswersDue()) DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks_, Answer()));
    }
    if (stopped && update_ < total_)
      return Cancelled(fmt::format("stopped after update {}; the same command continues", update_));
    outcome_.updates = update_;
    return outcome_;
  }

 private:
  // A failure of this rank inside a step, where the others wait for it.
  Status Fail(const Status& status) const {
    if (ranks_ != nullptr) ranks_->Abort(status);
    return status;
  }

  Status Prepare() {
    const auto begun = Clock::now();
    DAVINCI_ASSIGN_OR_RETURN(data_, LoadData(settings_));
    run_.say(fmt::format("{} examples, {:.4g} M tokens, {} encoded in {:.1f} s", data_.train.size(),
                         static_cast<double>(data_.train.total_tokens()) * 1e-6,
                         data_.train.num_encoded() + data_.eval.num_encoded(),
                         std::chrono::duration<double>(Clock::now() - begun).count()));
    const LearnerOptions& options = settings_.common.learner;
    DAVINCI_ASSIGN_OR_RETURN(config_, weights::LoadModelConfig(options.model_dir));
    if (settings_.max_tokens > config_.max_positions &&
        data_.train.longest() > config_.max_positions)
      return InvalidArgument(fmt::format(
          "an example has {} tokens, the model's context ends at {}; lower data.max_tokens and set "
          "data.overlong = \"skip\"",
          data_.train.longest(), config_.max_positions));
    const comm::World world = ranks_ == nullptr ? comm::World() : ranks_->world();
    const CostEstimate cost = EstimateMemory(
        config_, options, options.compute == Compute::kBfloat16,
        std::max(settings_.common.tokens_per_pass, data_.train.longest()), world.size);
    const int64_t memory =
        static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    if (options.device == "cpu" && cost.total_bytes() * world.local_size > memory)
      return ResourceExhausted(
          fmt::format("this training needs about {} GiB of memory, the machine has {}; lower "
                      "model.tokens_per_pass, or train LoRA (lora.rank)",
                      cost.total_bytes() * world.local_size >> 30, memory >> 30));
    const size_t count = EpochSize(data_.train.sections());
    per_epoch_ = UpdatesPerEpoch(settings_, count);
    total_ = NumUpdates(settings_, count);
    if (!writes_) return Status::Ok();
    DAVINCI_RETURN_IF_ERROR(OpenFolder(run_, Digest()));
    DAVINCI_ASSIGN_OR_RETURN(const auto steps, ListCheckpoints(checkpoints_));
    if (!steps.empty()) update_ = steps.back();
    return Status::Ok();
  }

  std::string Digest() const { return data_.train.digest() + data_.eval.digest(); }

  // Agreed. All ranks train the same; rank 0 says from where on.
  Status CompareRanks() {
    if (ranks_ == nullptr) return Status::Ok();
    const std::string mine = Digest() + run_.resolved;
    DAVINCI_ASSIGN_OR_RETURN(const auto all, ranks_->Exchange(mine));
    for (size_t rank = 1; rank < all.size(); ++rank)
      if (all[rank] != all[0])
        return InvalidArgument(
            fmt::format("rank {} has another recipe, other data or another tokenizer than rank 0; "
                        "start all ranks with the same arguments and files",
                        rank));
    DAVINCI_ASSIGN_OR_RETURN(const auto said, ranks_->Exchange(std::to_string(update_)));
    const auto update = WholeNumber<int64_t>(said[0]);
    if (!update) return Internal(fmt::format("rank 0 sent \"{}\" for its update", said[0]));
    update_ = *update;
    if (update_ == 0) run_.say(fmt::format("{} ranks", all.size()));
    return Status::Ok();
  }

  // Agreed.
  Status Resume() {
    outcome_.checkpoint = CheckpointPath(checkpoints_, update_);
    DAVINCI_ASSIGN_OR_RETURN(const json state, ReadCheckpoint(outcome_.checkpoint, *learner_));
    outcome_.first_loss = state.value("first_loss", 0.0);
    outcome_.last_loss = state.value("last_loss", 0.0);
    if (state.contains("best")) {
      best_ = state["best"].value("step", int64_t{0});
      best_loss_ = state["best"].value("loss", best_loss_);
    }
    run_.say(ranks_ == nullptr ? fmt::format("continuing after update {}", update_)
                               : fmt::format("continuing after update {} with {} ranks", update_,
                                             ranks_->world().size));
    return Status::Ok();
  }

  // Those of the update that comes, of all ranks.
  std::span<const size_t> NextExamples() {
    if (const int64_t epoch = update_ / per_epoch_; epoch != order_epoch_) {
      order_ = OrderOf(settings_, data_, epoch);
      order_epoch_ = epoch;
    }
    const size_t count = order_.size();
    const auto from = static_cast<size_t>(update_ % per_epoch_ * settings_.examples_per_update);
    return std::span(order_).subspan(
        from, std::min<size_t>(static_cast<size_t>(settings_.examples_per_update), count - from));
  }

  // Whether a rank was asked to stop. Fills the log line.
  Result<bool> Update(std::span<const size_t> chosen, const CancelToken& cancel) {
    const auto begun = Clock::now();
    int64_t tokens = 0;
    double flops = 0;
    for (const size_t i : chosen) {
      tokens += data_.train.num_tokens(i);
      flops += ModelFlops(config_, data_.train.num_tokens(i), data_.train.num_targets(i));
    }
    SftSums sums;
    DAVINCI_RETURN_IF_ERROR(AccumulateSft(*learner_, settings_, data_.train, chosen, &sums));
    const double rate = LearningRate(settings_.common.schedule, update_, total_);
    DAVINCI_ASSIGN_OR_RETURN(const trainer::Update done, learner_->Step(rate));
    learner_->Synchronize();
    sums.stops = cancel.stop_requested() ? 1 : 0;
    DAVINCI_RETURN_IF_ERROR(SumOverRanks(ranks_, &sums));
    ++update_;
    outcome_.last_loss = sums.Mean();
    if (update_ == 1) outcome_.first_loss = outcome_.last_loss;

    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    const LearnerFacts facts = learner_->Facts();
    line_ = {{"step", update_},
             {"epoch", static_cast<double>(update_) / static_cast<double>(per_epoch_)},
             {"loss", sums.Mean()},
             {"learning_rate", rate},
             {"gradient_norm", done.gradient_norm},
             {"skipped_updates", facts.skipped_updates},
             {"tokens", tokens},
             {"trained_tokens", sums.num_tokens()},
             {"passes", sums.passes},
             {"seconds", seconds},
             {"tokens_per_second", static_cast<double>(tokens) / seconds},
             {"model_tflops", flops / seconds * 1e-12}};
    if (ranks_ != nullptr) line_["ranks"] = ranks_->world().size;
    if (!std::isfinite(done.gradient_norm)) line_["gradient_norm"] = nullptr;
    line_["gradient_bytes"] = facts.gradient_bytes;
    if (facts.peak_bytes > 0) line_["peak_bytes"] = facts.peak_bytes;
    for (size_t agent = 0; agent < 3; ++agent)
      if (sums.tokens[agent] > 0)
        line_["agent_loss"][std::string(rl::AgentKindName(static_cast<rl::AgentKind>(agent)))] =
            sums.loss[agent] / static_cast<double>(sums.tokens[agent]);
    said_ = fmt::format("update {}/{}  loss {:.4f}  lr {:.2e}  norm {:.3g}  {:.3g} tok/s", update_,
                        total_, sums.Mean(), rate, done.gradient_norm,
                        static_cast<double>(tokens) / seconds);
    if (!eta_) eta_.emplace(update_ - 1, total_);
    said_ += eta_->Text(update_, run_seconds_ += seconds);
    if (!done.applied) said_ += "  skipped: the gradient is not finite";
    return sums.stops > 0;
  }

  Status Evaluate(bool saves, bool stopped) {
    const bool ends = update_ == total_ || stopped;
    const bool due = settings_.eval_every > 0 ? update_ % settings_.eval_every == 0 || ends : saves;
    if (data_.eval.empty() || !due) return Status::Ok();
    DAVINCI_ASSIGN_OR_RETURN(const SftEvaluation found,
                             EvaluateSft(*learner_, data_.eval, settings_.common.tokens_per_pass));
    const double loss = found.all.loss;
    line_["eval_loss"] = loss;
    line_["accuracy"]["all"] = found.all.accuracy;
    for (const auto& [split, share] : found.splits) {
      line_["accuracy"][split] = share.accuracy;
      line_["split_loss"][split] = share.loss;
    }
    said_ += fmt::format("  eval {:.4f}, {:.2f} % of tokens", loss, 100 * found.all.accuracy);
    if (saves && loss < best_loss_) {
      best_loss_ = loss;
      best_ = update_;
    }
    return Status::Ok();
  }

  Status Report() {
    if (!writes_) return Status::Ok();
    DAVINCI_RETURN_IF_ERROR(log_.value().Write(line_));
    run_.say(said_);
    return Status::Ok();
  }

  // Agreed.
  Status Save(size_t num_chosen) {
    const int64_t last = update_ - 1;
    json state = {{"command", "sft"},
                  {"epoch", last / per_epoch_},
                  {"examples_of_epoch", last % per_epoch_ * settings_.examples_per_update +
                                            static_cast<int64_t>(num_chosen)},
                  {"seed", settings_.common.seed},
                  {"data", data_.train.digest()},
                  {"first_loss", outcome_.first_loss},
                  {"last_loss", outcome_.last_loss}};
    if (best_) state["best"] = {{"step", *best_}, {"loss", best_loss_}};
    const LearnerOptions& options = settings_.common.learner;
    DAVINCI_ASSIGN_OR_RETURN(outcome_.checkpoint,
                             WriteCheckpoint(checkpoints_, update_, *learner_,
                                             {options.model_dir, options.lora}, std::move(state)));
    const CheckpointSettings& kept = settings_.common.checkpoint;
    return comm::Agree(
        ranks_, writes_ ? PruneCheckpoints(checkpoints_, kept.keep_last, Best()) : Status::Ok());
  }

  // True where the checkpoint of this update answers the held-out tasks.
  bool AnswersDue() const {
    if (settings_.tasks.empty()) return false;
    return settings_.answer_every == 0 || update_ == total_ ||
           update_ % settings_.answer_every == 0;
  }

  // The newest checkpoint's answers, unless they are there. A failure of the judge's machine does
  // not end a training.
  Status Answer() {
    if (!writes_ || run_.answer == nullptr || HasAnswers(answers_, update_)) return Status::Ok();
    const auto scores = run_.answer(outcome_.checkpoint);
    if (scores.status().code() == StatusCode::kCancelled) return scores.status();
    if (!scores.ok()) {
      run_.say(fmt::format("held-out tasks were not answered: {}", scores.status().message()));
      return Status::Ok();
    }
    DAVINCI_RETURN_IF_ERROR(WriteAnswers(answers_, update_, *scores));
    ordered_json line = {{"step", update_},
                         {"epoch", static_cast<double>(update_) / static_cast<double>(per_epoch_)}};
    for (const AnswerScore& score : *scores) {
      line["correct"][score.set] = score.correct.value;
      line["fast_1"][score.set] = score.fast_1.value;
      line["bounds"][score.set] = {{"correct_low", score.correct.low},
                                   {"correct_high", score.correct.high},
                                   {"fast_1_low", score.fast_1.low},
                                   {"fast_1_high", score.fast_1.high}};
      const auto text = [](const AnswerShare& share) {
        return fmt::format("{:.1f} % ({:.1f} – {:.1f})", 100 * share.value, 100 * share.low,
                           100 * share.high);
      };
      run_.say(fmt::format("update {}  {}: of {} tasks correct {}, faster {}", update_, score.set,
                           score.num_tasks, text(score.correct), text(score.fast_1)));
    }
    return log_.value().Write(line);
  }

  // The checkpoint to be kept beside the newest ones.
  std::optional<int64_t> Best() const {
    if (!settings_.common.checkpoint.keep_best) return std::nullopt;
    return settings_.tasks.empty() ? best_ : BestAnswers(answers_, update_);
  }

  const SftRun& run_;
  const SftSettings& settings_;
  comm::RankGroup* const ranks_;
  const bool writes_;  // this rank owns the run folder
  const fs::path checkpoints_;
  const fs::path answers_;
  Data data_;
  weights::ModelConfig config_;
  std::unique_ptr<Learner> learner_;
  std::optional<RunLog> log_;
  int64_t per_epoch_ = 1;  // updates
  int64_t total_ = 0;      // updates
  int64_t update_ = 0;     // done
  int64_t order_epoch_ = -1;
  std::vector<size_t> order_;
  std::optional<int64_t> best_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  SftOutcome outcome_;
  // Of the update that was done last.
  ordered_json line_;
  std::string said_;
  std::optional<Eta> eta_;  // of the updates
  double run_seconds_ = 0;  // of this process's updates
};

}  // namespace

Result<std::string> DescribeSft(const SftSettings& settings, int ranks) {
  DAVINCI_ASSIGN_OR_RETURN(const Data data, LoadData(settings));
  const LearnerOptions& learner = settings.common.learner;
  DAVINCI_ASSIGN_OR_RETURN(const auto config, weights::LoadModelConfig(learner.model_dir));
  const auto order = OrderOf(settings, data, 0);
  const int64_t updates = NumUpdates(settings, order.size());
  const auto count =
      std::min<size_t>(order.size(), static_cast<size_t>(settings.examples_per_update));
  const auto bins =
      SftBins(data.train, std::span(order).first(count), settings.common.tokens_per_pass);
  int64_t largest = 0;
  double flops = 0;
  for (const auto& bin : bins) {
    int64_t tokens = 0;
    for (const size_t i : bin) {
      tokens += data.train.num_tokens(order[i]);
      flops +=
          ModelFlops(config, data.train.num_tokens(order[i]), data.train.num_targets(order[i]));
    }
    largest = std::max(largest, tokens);
  }
  largest = std::max(largest, std::min(settings.common.tokens_per_pass, data.train.total_tokens()));
  const bool bf16 = learner.compute == Compute::kBfloat16 ||
                    (learner.compute == Compute::kAuto && learner.device != "cpu");
  const CostEstimate cost = EstimateMemory(config, learner, bf16, largest, ranks);
  const auto gib = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  // Assumed rates: half of what these devices reach in large matrix products.
  const double cpu_rate = 2e10 * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double gpu_rate = 4e14;
  std::string text;
  text += fmt::format("examples   {} of {} tokens, {} trained, longest {}, {} left out\n",
                      data.train.size(), data.train.total_tokens(), data.train.total_targets(),
                      data.train.longest(), data.train.num_skipped());
  text += fmt::format("updates    {} of {} examples; the first in {} passes, largest {} tokens\n",
                      updates, settings.examples_per_update, bins.size(), largest);
  text += fmt::format("model      {} {} M parameters, {} M trained, {}\n",
                      weights::FamilyName(config.family), cost.parameters / 1000000,
                      cost.trained_parameters / 1000000, bf16 ? "bf16" : "fp32");
  text += fmt::format(
      "memory     about {:.2f} GiB: weights {:.2f}, gradients {:.2f}, moments {:.2f}, "
      "activations {:.2f}\n",
      gib(cost.total_bytes()), gib(cost.weight_bytes), gib(cost.gradient_bytes),
      gib(cost.moment_bytes), gib(cost.activation_bytes));
  if (ranks > 1)
    text += fmt::format(
        "ranks      {}: {} divided by {}, rows of an update likewise\n", ranks,
        learner.zero_stage == 2 ? "masters, moments and gradients" : "masters and moments", ranks);
  text += fmt::format(
      "time       about {:.3g} s an update on this CPU (at {:.0f} GFLOP/s), {:.3g} s on one H200 "
      "(at 400 TFLOP/s)\n",
      flops / cpu_rate, cpu_rate * 1e-9, flops / gpu_rate);
  return text;
}

Result<SftOutcome> RunSft(const SftRun& run, const CancelToken& cancel) {
  SftLoop loop(run);
  DAVINCI_RETURN_IF_ERROR(loop.Open());
  return loop.Train(cancel);
}

}  // namespace davinci::trainer
