#include "davinci/trainer/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace davinci::trainer {
namespace {

template <typename T>
void AtLeast(config::RecipeReader* reader, const char* key, T value, T least) {
  if (value < least)
    reader->Problem(key, fmt::format("{} is below {}, the least that makes sense", value, least));
}

void Share(config::RecipeReader* reader, const char* key, double value) {
  if (!(value >= 0 && value <= 1)) reader->Problem(key, "must lie in 0 … 1");
}

}  // namespace

double LearningRate(const ScheduleSettings& settings, int64_t update, int64_t total) {
  const auto warmup =
      static_cast<int64_t>(std::ceil(settings.warmup_fraction * static_cast<double>(total)));
  if (update < warmup)
    return settings.learning_rate * static_cast<double>(update + 1) / static_cast<double>(warmup);
  if (settings.kind == Schedule::kConstant) return settings.learning_rate;
  const double progress =
      std::min(1.0, static_cast<double>(update - warmup) /
                        static_cast<double>(std::max<int64_t>(1, total - warmup)));
  const double fall = settings.kind == Schedule::kLinear
                          ? 1 - progress
                          : 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return settings.learning_rate * (settings.final_fraction + (1 - settings.final_fraction) * fall);
}

void ReadCommon(config::RecipeReader* reader, CommonSettings* settings) {
  LearnerOptions& learner = settings->learner;
  reader->Read("run.seed", &settings->seed);
  reader->Read("model.path", &learner.model_dir);
  std::string init = "pretrained";
  reader->ReadChoice("model.init", &init, {"pretrained", "random"});
  learner.random_weights = init == "random";
  reader->Read("model.device", &learner.device);
  std::string compute = "auto";
  reader->ReadChoice("model.compute", &compute, {"auto", "fp32", "bf16"});
  learner.compute = compute == "fp32"   ? Compute::kFloat32
                    : compute == "bf16" ? Compute::kBfloat16
                                        : Compute::kAuto;
  reader->Read("model.recomputed_layers", &learner.recomputed_layers);
  reader->Read("model.deterministic", &learner.deterministic);
  std::string attention = "auto";
  reader->ReadChoice("model.attention", &attention, {"auto", "flash", "cudnn"});
  learner.attention = attention == "flash"   ? AttentionChoice::kFlash
                      : attention == "cudnn" ? AttentionChoice::kCudnn
                                             : AttentionChoice::kAuto;
  if (learner.attention == AttentionChoice::kCudnn && learner.deterministic)
    reader->Problem("model.attention",
                    "\"cudnn\" has no deterministic gradients; set model.deterministic = false, or "
                    "model.attention = \"flash\"");
  if (learner.attention == AttentionChoice::kCudnn &&
      (learner.device == "cpu" || learner.compute == Compute::kFloat32))
    reader->Problem("model.attention", "\"cudnn\" needs bf16 on a CUDA device; set \"auto\"");
  reader->Read("model.threads", &learner.threads);
  reader->Read("model.tokens_per_pass", &settings->tokens_per_pass);
  AtLeast<int64_t>(reader, "model.tokens_per_pass", settings->tokens_per_pass, 1);
  reader->Read("lora.rank", &learner.lora.rank);
  AtLeast<int64_t>(reader, "lora.rank", learner.lora.rank, 0);
  reader->Read("lora.alpha", &learner.lora.alpha);
  reader->Read("lora.targets", &learner.lora.targets);
  if (learner.lora.rank > 0 && learner.random_weights)
    reader->Problem("lora.rank",
                    "LoRA needs model.init = \"pretrained\": random weights that are "
                    "never saved cannot be adapted");
  ScheduleSettings& schedule = settings->schedule;
  std::string kind = schedule.kind == Schedule::kConstant ? "constant"
                     : schedule.kind == Schedule::kLinear ? "linear"
                                                          : "cosine";
  reader->ReadChoice("optimizer.schedule", &kind, {"constant", "linear", "cosine"});
  schedule.kind = kind == "constant" ? Schedule::kConstant
                  : kind == "linear" ? Schedule::kLinear
                                     : Schedule::kCosine;
  reader->Read("optimizer.learning_rate", &schedule.learning_rate);
  if (!(schedule.learning_rate > 0)) reader->Problem("optimizer.learning_rate", "must be positive");
  reader->Read("optimizer.warmup_fraction", &schedule.warmup_fraction);
  Share(reader, "optimizer.warmup_fraction", schedule.warmup_fraction);
  reader->Read("optimizer.final_fraction", &schedule.final_fraction);
  Share(reader, "optimizer.final_fraction", schedule.final_fraction);
  AdamOptions& adam = learner.adam;
  reader->Read("optimizer.beta1", &adam.beta1);
  reader->Read("optimizer.beta2", &adam.beta2);
  Share(reader, "optimizer.beta1", adam.beta1);
  Share(reader, "optimizer.beta2", adam.beta2);
  reader->Read("optimizer.epsilon", &adam.epsilon);
  reader->Read("optimizer.weight_decay", &adam.weight_decay);
  std::string decay = adam.decay_all ? "all" : "matrices";
  reader->ReadChoice("optimizer.decay", &decay, {"matrices", "all"});
  adam.decay_all = decay == "all";
  reader->Read("optimizer.clip_norm", &adam.clip_norm);
  std::string kind_of_update = adam.muon ? "muon" : "adamw";
  reader->ReadChoice("optimizer.kind", &kind_of_update, {"adamw", "muon"});
  adam.muon = kind_of_update == "muon";
  reader->Read("optimizer.momentum", &adam.momentum);
  Share(reader, "optimizer.momentum", adam.momentum);
  if (adam.muon && learner.lora.rank > 0)
    reader->Problem("optimizer.kind", "\"muon\" updates whole matrices; LoRA needs \"adamw\"");
  reader->Read("optimizer.zero_stage", &learner.zero_stage);
  if (learner.zero_stage != 1 && learner.zero_stage != 2)
    reader->Problem("optimizer.zero_stage", "must be 1 or 2");
  CheckpointSettings& checkpoint = settings->checkpoint;
  reader->Read("checkpoint.every", &checkpoint.every);
  AtLeast<int64_t>(reader, "checkpoint.every", checkpoint.every, 1);
  reader->Read("checkpoint.keep_last", &checkpoint.keep_last);
  AtLeast(reader, "checkpoint.keep_last", checkpoint.keep_last, 1);
  reader->Read("checkpoint.keep_best", &checkpoint.keep_best);
  learner.seed = static_cast<uint64_t>(settings->seed);
}

Result<SftSettings> ReadSftRecipe(const config::Recipe& recipe, std::string* resolved) {
  SftSettings settings;
  config::RecipeReader reader(recipe);
  ReadCommon(&reader, &settings.common);
  reader.Read("data.train", &settings.train);
  reader.Read("data.weights", &settings.weights);
  if (!settings.weights.empty() && settings.weights.size() != settings.train.size())
    reader.Problem("data.weights", fmt::format("has {} numbers, data.train {} entries",
                                               settings.weights.size(), settings.train.size()));
  for (const double weight : settings.weights)
    if (!(weight >= 0 && weight <= 1000)) reader.Problem("data.weights", "must lie in 0 … 1000");
  reader.Read("data.curriculum", &settings.curriculum);
  Share(&reader, "data.curriculum", settings.curriculum);
  reader.Read("data.eval", &settings.eval);
  reader.Read("data.max_tokens", &settings.max_tokens);
  AtLeast<int64_t>(&reader, "data.max_tokens", settings.max_tokens, 2);
  reader.ReadChoice("data.overlong", &settings.overlong, {"error", "skip"});
  reader.Read("data.examples_per_update", &settings.examples_per_update);
  AtLeast<int64_t>(&reader, "data.examples_per_update", settings.examples_per_update, 1);
  reader.Read("data.epochs", &settings.epochs);
  AtLeast<int64_t>(&reader, "data.epochs", settings.epochs, 1);
  reader.Read("data.max_updates", &settings.max_updates);
  AtLeast<int64_t>(&reader, "data.max_updates", settings.max_updates, 0);
  std::string aggregation(rl::AggregationName(settings.aggregation));
  reader.Read("loss.aggregation", &aggregation);
  if (const auto parsed = rl::ParseAggregation(aggregation); parsed.ok())
    settings.aggregation = *parsed;
  else
    reader.Problem("loss.aggregation", parsed.status().message());
  reader.Read("loss.divisor", &settings.divisor);
  if (!(settings.divisor > 0)) reader.Problem("loss.divisor", "must be positive");
  reader.Read("loss.policy_weight", &settings.policy_weight);
  reader.Read("loss.selection_weight", &settings.selection_weight);
  reader.Read("loss.summary_weight", &settings.summary_weight);
  reader.Read("checkpoint.eval_every", &settings.eval_every);
  reader.Read("evaluation.tasks", &settings.tasks);
  reader.Read("evaluation.every", &settings.answer_every);
  AtLeast<int64_t>(&reader, "evaluation.every", settings.answer_every, 0);
  reader.Read("evaluation.recipe", &settings.answer_recipe);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  if (resolved != nullptr) *resolved = reader.ResolvedToml();
  return settings;
}

}  // namespace davinci::trainer
