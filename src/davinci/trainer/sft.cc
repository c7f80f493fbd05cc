#include "davinci/trainer/sft.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "davinci/rl/packing.h"
#include "davinci/trainer/checkpoint.h"
#include "davinci/trainer/estimate.h"
#include "davinci/trainer/run_log.h"
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
};

Result<Data> LoadData(const SftSettings& settings) {
  if (settings.common.learner.model_dir.empty())
    return InvalidArgument(
        "model.path is not set: a folder with config.json, tokenizer.json and a chat template");
  if (settings.train.empty()) return InvalidArgument("data.train names no file");
  DAVINCI_ASSIGN_OR_RETURN(const SftEncoder encoder,
                           SftEncoder::Open(settings.common.learner.model_dir));
  const bool skip = settings.overlong == "skip";
  Data data;
  DAVINCI_ASSIGN_OR_RETURN(data.train, LoadSftData({settings.train.begin(), settings.train.end()},
                                                   encoder, settings.max_tokens, skip));
  if (!settings.eval.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(data.eval,
                             LoadSftData({settings.eval}, encoder, settings.max_tokens, skip));
  }
  return data;
}

int64_t NumUpdates(const SftSettings& settings, size_t num_examples) {
  const auto per_epoch = (static_cast<int64_t>(num_examples) + settings.examples_per_update - 1) /
                         settings.examples_per_update;
  const int64_t all = per_epoch * settings.epochs;
  return settings.max_updates > 0 ? std::min(settings.max_updates, all) : all;
}

// The order of an epoch: a function of seed and epoch alone.
std::vector<size_t> OrderOf(int64_t seed, int64_t epoch, size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  SplitMix64 rng(static_cast<uint64_t>(seed) * 0x9e3779b97f4a7c15ULL +
                 static_cast<uint64_t>(epoch));
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
  return order;
}

std::vector<std::vector<size_t>> Bins(const std::vector<SftExample>& examples,
                                      std::span<const size_t> chosen, int64_t tokens_per_pass) {
  std::vector<int64_t> lengths;
  for (const size_t i : chosen) lengths.push_back(static_cast<int64_t>(examples[i].tokens.size()));
  return rl::PackBins(lengths, tokens_per_pass);
}

double AgentWeight(const SftSettings& settings, rl::AgentKind agent) {
  switch (agent) {
    case rl::AgentKind::kSelection:
      return settings.selection_weight;
    case rl::AgentKind::kSummary:
      return settings.summary_weight;
    default:
      return settings.policy_weight;
  }
}

struct Sums {
  std::array<double, 3> loss{};
  std::array<int64_t, 3> tokens{};
  double Mean() const {
    const double all = loss[0] + loss[1] + loss[2];
    const auto count = static_cast<double>(tokens[0] + tokens[1] + tokens[2]);
    return count > 0 ? all / count : 0;
  }
};

// One pass over `members` of `examples`; with `weights` (of a token of each member) its gradients
// are added.
Status Pass(Learner& learner, const std::vector<SftExample>& examples,
            const std::vector<size_t>& members, const std::vector<double>* weights, Sums* sums) {
  std::vector<SequenceView> views;
  std::vector<float> derivatives;
  for (size_t i = 0; i < members.size(); ++i) {
    const SftExample& example = examples[members[i]];
    views.push_back({example.tokens, example.targets});
    if (weights != nullptr)
      for (const float weight : example.weights)
        derivatives.push_back(static_cast<float>(-(*weights)[i] * weight));
  }
  DAVINCI_ASSIGN_OR_RETURN(const PassResult result,
                           weights != nullptr ? learner.AccumulateLinear(views, {}, derivatives)
                                              : learner.Evaluate(views, {}));
  size_t next = 0;
  for (const size_t member : members) {
    const auto agent = static_cast<size_t>(examples[member].agent);
    for (size_t t = 0; t < examples[member].targets.size(); ++t)
      sums->loss[agent] -= result.outputs[next++];
    sums->tokens[agent] += static_cast<int64_t>(examples[member].targets.size());
  }
  return Status::Ok();
}

Result<double> Evaluate(Learner& learner, const SftData& data, int64_t tokens_per_pass) {
  std::vector<size_t> all(data.examples.size());
  std::iota(all.begin(), all.end(), size_t{0});
  Sums sums;
  for (const auto& bin : Bins(data.examples, all, tokens_per_pass))
    DAVINCI_RETURN_IF_ERROR(Pass(learner, data.examples, bin, nullptr, &sums));
  return sums.Mean();
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

}  // namespace

Result<std::string> DescribeSft(const SftSettings& settings) {
  DAVINCI_ASSIGN_OR_RETURN(const Data data, LoadData(settings));
  const LearnerOptions& learner = settings.common.learner;
  DAVINCI_ASSIGN_OR_RETURN(const auto config, weights::LoadModelConfig(learner.model_dir));
  const int64_t updates = NumUpdates(settings, data.train.examples.size());
  const auto order = OrderOf(settings.common.seed, 0, data.train.examples.size());
  const auto count =
      std::min<size_t>(order.size(), static_cast<size_t>(settings.examples_per_update));
  const auto bins =
      Bins(data.train.examples, std::span(order).first(count), settings.common.tokens_per_pass);
  int64_t largest = 0;
  double flops = 0;
  for (const auto& bin : bins) {
    int64_t tokens = 0;
    for (const size_t i : bin) {
      const SftExample& example = data.train.examples[order[i]];
      tokens += static_cast<int64_t>(example.tokens.size());
      flops += ModelFlops(config, static_cast<int64_t>(example.tokens.size()),
                          static_cast<int64_t>(example.targets.size()));
    }
    largest = std::max(largest, tokens);
  }
  largest = std::max(largest, std::min(settings.common.tokens_per_pass, data.train.num_tokens));
  const bool bf16 = learner.compute == Compute::kBfloat16 ||
                    (learner.compute == Compute::kAuto && learner.device != "cpu");
  const CostEstimate cost = EstimateMemory(config, learner, bf16, largest);
  const auto gib = [](int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  // Assumed rates: half of what these devices reach in large matrix products.
  const double cpu_rate = 2e10 * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double gpu_rate = 4e14;
  std::string text;
  text += fmt::format("examples   {} of {} tokens, {} trained, longest {}, {} left out\n",
                      data.train.examples.size(), data.train.num_tokens, data.train.num_trained,
                      data.train.longest, data.train.num_skipped);
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
  text += fmt::format(
      "time       about {:.3g} s an update on this CPU (at {:.0f} GFLOP/s), {:.3g} s on one H200 "
      "(at 400 TFLOP/s)\n",
      flops / cpu_rate, cpu_rate * 1e-9, flops / gpu_rate);
  return text;
}

Result<SftOutcome> RunSft(const SftRun& run, const CancelToken& cancel) {
  const SftSettings& settings = run.settings;
  DAVINCI_ASSIGN_OR_RETURN(const Data data, LoadData(settings));
  DAVINCI_RETURN_IF_ERROR(OpenFolder(run, data.train.digest + data.eval.digest));
  LearnerOptions options = settings.common.learner;
  const fs::path checkpoints = run.folder / "checkpoints";
  DAVINCI_ASSIGN_OR_RETURN(const auto steps, ListCheckpoints(checkpoints));
  DAVINCI_ASSIGN_OR_RETURN(const auto config, weights::LoadModelConfig(options.model_dir));
  if (settings.max_tokens > config.max_positions && data.train.longest > config.max_positions)
    return InvalidArgument(fmt::format(
        "an example has {} tokens, the model's context ends at {}; lower data.max_tokens and set "
        "data.overlong = \"skip\"",
        data.train.longest, config.max_positions));
  const CostEstimate cost =
      EstimateMemory(config, options, options.compute == Compute::kBfloat16,
                     std::max(settings.common.tokens_per_pass, data.train.longest));
  const int64_t memory = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  if (options.device == "cpu" && cost.total_bytes() > memory)
    return ResourceExhausted(
        fmt::format("this training needs about {} GiB of memory, the machine has {}; lower "
                    "model.tokens_per_pass, or train LoRA (lora.rank)",
                    cost.total_bytes() >> 30, memory >> 30));
  DAVINCI_ASSIGN_OR_RETURN(const auto learner, OpenLearner(options));

  // Where the run stands.
  int64_t update = 0;
  std::optional<int64_t> best;
  double best_loss = std::numeric_limits<double>::infinity();
  SftOutcome outcome;
  if (!steps.empty()) {
    outcome.checkpoint = CheckpointPath(checkpoints, steps.back());
    DAVINCI_ASSIGN_OR_RETURN(const json state, ReadCheckpoint(outcome.checkpoint, *learner));
    update = steps.back();
    outcome.first_loss = state.value("first_loss", 0.0);
    outcome.last_loss = state.value("last_loss", 0.0);
    if (state.contains("best")) {
      best = state["best"].value("step", int64_t{0});
      best_loss = state["best"].value("loss", best_loss);
    }
    run.say(fmt::format("goes on behind update {}", update));
  }
  DAVINCI_ASSIGN_OR_RETURN(RunLog log, RunLog::Open(run.folder, update));
  const size_t count = data.train.examples.size();
  const int64_t total = NumUpdates(settings, count);
  const int64_t per_epoch = NumUpdates(settings, count) > 0
                                ? (static_cast<int64_t>(count) + settings.examples_per_update - 1) /
                                      settings.examples_per_update
                                : 1;
  const CheckpointSource source{options.model_dir, options.lora};
  int64_t order_epoch = -1;
  std::vector<size_t> order;

  while (update < total) {
    const auto begun = Clock::now();
    const int64_t epoch = update / per_epoch;
    if (epoch != order_epoch) {
      order = OrderOf(settings.common.seed, epoch, count);
      order_epoch = epoch;
    }
    const auto from = static_cast<size_t>(update % per_epoch * settings.examples_per_update);
    const std::span<const size_t> chosen = std::span(order).subspan(
        from, std::min<size_t>(static_cast<size_t>(settings.examples_per_update), count - from));
    std::vector<int64_t> trained;
    int64_t tokens = 0;
    double flops = 0;
    for (const size_t i : chosen) {
      const SftExample& example = data.train.examples[i];
      trained.push_back(static_cast<int64_t>(example.targets.size()));
      tokens += static_cast<int64_t>(example.tokens.size());
      flops += ModelFlops(config, static_cast<int64_t>(example.tokens.size()),
                          static_cast<int64_t>(example.targets.size()));
    }
    const std::vector<double> token_weights =
        rl::TokenWeights(settings.aggregation, trained, settings.divisor);
    Sums sums;
    int num_passes = 0;
    for (const auto& bin : Bins(data.train.examples, chosen, settings.common.tokens_per_pass)) {
      std::vector<size_t> members;
      std::vector<double> weights;
      for (const size_t i : bin) {
        members.push_back(chosen[i]);
        weights.push_back(token_weights[i] *
                          AgentWeight(settings, data.train.examples[chosen[i]].agent));
      }
      DAVINCI_RETURN_IF_ERROR(Pass(*learner, data.train.examples, members, &weights, &sums));
      ++num_passes;
    }
    const double rate = LearningRate(settings.common.schedule, update, total);
    DAVINCI_ASSIGN_OR_RETURN(const Update done, learner->Step(rate));
    learner->Synchronize();
    ++update;
    outcome.last_loss = sums.Mean();
    if (update == 1) outcome.first_loss = outcome.last_loss;

    const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
    const LearnerFacts facts = learner->Facts();
    ordered_json line = {{"step", update},
                         {"epoch", static_cast<double>(update) / static_cast<double>(per_epoch)},
                         {"loss", sums.Mean()},
                         {"learning_rate", rate},
                         {"gradient_norm", done.gradient_norm},
                         {"skipped_updates", facts.skipped_updates},
                         {"tokens", tokens},
                         {"trained_tokens", sums.tokens[0] + sums.tokens[1] + sums.tokens[2]},
                         {"passes", num_passes},
                         {"seconds", seconds},
                         {"tokens_per_second", static_cast<double>(tokens) / seconds},
                         {"model_tflops", flops / seconds * 1e-12}};
    if (!std::isfinite(done.gradient_norm)) line["gradient_norm"] = nullptr;
    if (facts.peak_bytes > 0) line["peak_bytes"] = facts.peak_bytes;
    for (size_t agent = 0; agent < 3; ++agent)
      if (sums.tokens[agent] > 0)
        line["agent_loss"][std::string(AgentKindName(static_cast<rl::AgentKind>(agent)))] =
            sums.loss[agent] / static_cast<double>(sums.tokens[agent]);

    const bool stops = update == total || cancel.stop_requested();
    const bool saves = stops || update % settings.common.checkpoint.every == 0;
    std::string said = fmt::format(
        "update {}/{}  loss {:.4f}  lr {:.2e}  norm {:.3g}  {:.3g} tok/s", update, total,
        sums.Mean(), rate, done.gradient_norm, static_cast<double>(tokens) / seconds);
    if (!done.applied) said += "  skipped: the gradient is not finite";
    const bool evaluates =
        !data.eval.examples.empty() &&
        (settings.eval_every > 0 ? update % settings.eval_every == 0 || stops : saves);
    if (evaluates) {
      DAVINCI_ASSIGN_OR_RETURN(const double loss,
                               Evaluate(*learner, data.eval, settings.common.tokens_per_pass));
      line["eval_loss"] = loss;
      said += fmt::format("  eval {:.4f}", loss);
      if (saves && loss < best_loss) {
        best_loss = loss;
        best = update;
      }
    }
    DAVINCI_RETURN_IF_ERROR(log.Write(line));
    run.say(said);
    if (saves) {
      json state = {{"command", "sft"},
                    {"epoch", epoch},
                    {"examples_of_epoch", from + chosen.size()},
                    {"seed", settings.common.seed},
                    {"data", data.train.digest},
                    {"first_loss", outcome.first_loss},
                    {"last_loss", outcome.last_loss}};
      if (best) state["best"] = {{"step", *best}, {"loss", best_loss}};
      DAVINCI_ASSIGN_OR_RETURN(outcome.checkpoint, WriteCheckpoint(checkpoints, update, *learner,
                                                                   source, std::move(state)));
      DAVINCI_RETURN_IF_ERROR(
          PruneCheckpoints(checkpoints, settings.common.checkpoint.keep_last,
                           settings.common.checkpoint.keep_best ? best : std::nullopt));
    }
    if (cancel.stop_requested() && update < total) {
      return Cancelled(fmt::format("stopped after update {}; the same command goes on", update));
    }
  }
  outcome.updates = update;
  return outcome;
}

}  // namespace davinci::trainer
