#include "davinci/training/train_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "davinci/base/duration.h"
#include "davinci/text/tokenizer.h"
#include "davinci/trainer/estimate.h"
#include "davinci/trainer/row_files.h"
#include "davinci/training/train_critic.h"
#include "davinci/training/train_tasks.h"
#include "davinci/weights/model_config.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::training {
namespace {

// Assumed of a device. GPU: an H200, at half of what it reaches in large matrix products. CPU: a
// core likewise, and the memory of a desktop machine.
struct Rates {
  double flops = 0;            // a second
  double bytes = 0;            // a second
  double verdict_seconds = 0;  // of a judgement under the screening protocol
  std::string name;
};

Rates RatesOf(const TrainMachine& machine, Target target) {
  Rates rates;
  if (machine.cuda)
    rates = {4e14, 3e12, 0, "one H200 (400 TFLOP/s, 3 TB/s)"};
  else
    rates = {2e10 * machine.num_cores, 2e10, 0,
             fmt::format("{} CPU cores (20 GFLOP/s each, 20 GB/s)", machine.num_cores)};
  rates.verdict_seconds = target == Target::kCuda ? 2 : 8;
  return rates;
}

double Gib(double bytes) { return bytes / (1 << 30); }

}  // namespace

Status CheckTraining(const TrainRecipe& recipe) {
  std::string problems;
  const auto add = [&](const std::string& problem) {
    problems += (problems.empty() ? "" : "\n") + problem;
  };
  if (recipe.tasks.empty()) add("train.tasks is not set: files, folders or JSONL of tasks");
  for (const auto& [key, paths] :
       {std::pair{"train.tasks", &recipe.tasks}, std::pair{"train.held_out", &recipe.held_out}}) {
    if (paths->empty()) continue;
    if (const auto tasks = LoadTrainTasks(*paths, recipe.run.step); !tasks.ok())
      add(fmt::format("{}: {}", key, tasks.status().message()));
  }
  for (const std::string& rows : recipe.replay.rows)
    if (const auto files = trainer::RowFiles(rows); !files.ok())
      add("replay.rows: " + files.status().message());
  const std::filesystem::path model = recipe.common.learner.model_dir;
  if (model.empty()) {
    add("model.path is not set: a folder in Hugging Face layout");
  } else if (const auto config = weights::LoadModelConfig(model); !config.ok()) {
    add("model.path: " + config.status().message());
  } else {
    const auto file = weights::TensorFile::Open(model);
    const Status whole = file.ok() ? weights::CheckTensors(*config, *file) : file.status();
    if (!whole.ok()) add("model.path: " + whole.message());
    if (const auto tokenizer = text::Tokenizer::Load(model); !tokenizer.ok())
      add("model.path: " + tokenizer.status().message());
  }
  return problems.empty() ? Status::Ok() : InvalidArgument(problems);
}

Result<std::string> DescribeTraining(const TrainRecipe& recipe, const TrainMachine& machine) {
  const rollout::StepSettings& step = recipe.run.step;
  const int schemes = step.schemes + (step.null_scheme ? 1 : 0);
  const int64_t rollouts = int64_t{recipe.tasks_per_step} * schemes * step.rollouts;
  const int64_t turns = rollouts * step.turns;
  const Rates rates = RatesOf(machine, step.target);
  std::string text;
  text += fmt::format("steps      {} of {} tasks, {} update(s) each\n", recipe.steps,
                      recipe.tasks_per_step, recipe.updates_per_step);
  text += fmt::format(
      "rollouts   {} schemes x {} x {} turns: {} selection calls, {} rollouts, {} turns a step\n",
      schemes, step.rollouts, step.turns, recipe.tasks_per_step * step.schemes, rollouts, turns);
  const int places = runs::JudgePlaces(recipe.run.judge, machine.num_cores);
  const double judging = static_cast<double>(turns) * rates.verdict_seconds / places;
  text += fmt::format("judging    {} verdicts a step, {} at a time: about {} (at {:g} s each)\n",
                      turns, places, DurationText(judging), rates.verdict_seconds);
  if (recipe.common.learner.model_dir.empty()) return text;
  DAVINCI_ASSIGN_OR_RETURN(const auto config,
                           weights::LoadModelConfig(recipe.common.learner.model_dir));
  trainer::LearnerOptions learner = recipe.common.learner;
  const bool bf16 = learner.compute == trainer::Compute::kBfloat16 ||
                    (learner.compute == trainer::Compute::kAuto && machine.cuda);
  learner.device = machine.cuda ? "cuda" : "cpu";
  const auto cost = trainer::EstimateMemory(config, learner, bf16, recipe.common.tokens_per_pass);
  text += fmt::format("model      {} {} M parameters, {} M trained, {} on {}\n",
                      weights::FamilyName(config.family), cost.parameters / 1000000,
                      cost.trained_parameters / 1000000, bf16 ? "bf16" : "fp32",
                      machine.cuda ? "CUDA" : "the CPU");
  // Keys and values of every place's whole context.
  const double element = bf16 ? 2 : 4;
  const double weights = static_cast<double>(cost.parameters) * element;
  const double cached =
      2.0 * static_cast<double>(config.num_layers * config.num_kv_heads * config.head_dim) *
      static_cast<double>(step.context_tokens) * element;
  text += fmt::format(
      "memory     about {:.2f} GiB for training; for sampling {:.2f} GiB of weights and at most "
      "{:.2f} GiB of keys and values ({} calls at once)\n",
      Gib(static_cast<double>(cost.total_bytes())), Gib(weights),
      Gib(cached * recipe.run.llm.concurrency), recipe.run.llm.concurrency);
  if (recipe.algorithm.critic.enabled) {
    trainer::LearnerOptions critic = CriticOptions(recipe);
    critic.device = learner.device;
    text +=
        fmt::format("critic     about {:.2f} GiB more for its training\n",
                    Gib(static_cast<double>(
                        trainer::EstimateMemory(config, critic, bf16, recipe.common.tokens_per_pass)
                            .total_bytes())));
  }
  const int64_t trained = turns * step.policy_sampling.max_tokens;
  const int64_t sampled =
      trained + int64_t{recipe.tasks_per_step} * step.schemes * step.selection_sampling.max_tokens;
  // A token of every call under way for one reading of the weights.
  const double per_second = std::min(recipe.run.llm.concurrency * rates.bytes / weights,
                                     rates.flops / (2.0 * static_cast<double>(cost.parameters)));
  const double sampling = static_cast<double>(sampled) / per_second;
  text += fmt::format("sampling   at most {} tokens a step: {} at {:.3g} tokens/s\n", sampled,
                      DurationText(sampling), per_second);
  const double update = 8.0 * static_cast<double>(cost.parameters) * static_cast<double>(trained) /
                        rates.flops * recipe.updates_per_step;
  text += fmt::format("update     at most {} sampled tokens: {}\n", trained, DurationText(update));
  if (!recipe.replay.rows.empty())
    text += fmt::format("replay     {} rows an update\n", recipe.replay.examples);
  // Judging overlaps sampling; training overlaps both where rollouts may be stale.
  const double rolling = std::max(sampling, judging);
  const double whole = recipe.max_staleness > 0 ? std::max(rolling, update) : rolling + update;
  text += fmt::format("time       at most {} a step, {} in all; assumed: {}\n", DurationText(whole),
                      DurationText(whole * recipe.steps), rates.name);
  return text;
}

}  // namespace davinci::training
