// davinci train: reinforcement learning of the three agents' model, from a recipe.

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "commands.h"
#include "davinci/base/hash.h"
#include "davinci/comm/world.h"
#include "davinci/embedded/embedded_backbone.h"
#include "davinci/orchestrator/train_loop.h"
#include "run_console.h"
#include "training_flags.h"
#include "workplace.h"

namespace davinci::app {
namespace {

struct TrainArguments : TrainingFlags {
  bool no_sandbox = false;
};

// The workplace wants a model; training opens its own for each step.
class NoModel final : public llm::Backbone {
 public:
  Result<llm::Reply> Generate(const llm::Request&, const CancelToken&) override {
    return Internal("training samples from its own model");
  }
  Result<std::vector<llm::Reply>> GenerateMany(const llm::Request&, int,
                                               const CancelToken&) override {
    return Internal("training samples from its own model");
  }
  int64_t ContextTokens() const override { return 0; }
  std::string Name() const override { return "none"; }
};

Status Run(const TrainArguments& arguments, const GlobalOptions& global) {
  DAVINCI_ASSIGN_OR_RETURN(config::Recipe recipe, LoadRecipe(arguments));
  if (arguments.no_sandbox)
    DAVINCI_RETURN_IF_ERROR(recipe.Override("judge.unsafe_no_sandbox=true"));
  orchestrator::TrainRequest request;
  DAVINCI_ASSIGN_OR_RETURN(request.recipe,
                           orchestrator::ReadTrainRecipe(recipe, &request.resolved));
  if (arguments.dry_run) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string text,
                             orchestrator::DescribeTraining(request.recipe));
    fmt::print("{}\n{}", request.resolved, text);
    return Status::Ok();
  }
  DAVINCI_ASSIGN_OR_RETURN(const comm::World world, comm::WorldFromEnvironment(std::getenv));
  if (world.size > 1)
    return InvalidArgument(fmt::format(
        "{} ranks were started, but davinci train is one process (davinci sft takes several); "
        "start it without mpirun, torchrun or srun, or unset WORLD_SIZE",
        world.size));
  if (arguments.out.empty()) return InvalidArgument("--out is not set: the run's folder");
  const trainer::LearnerOptions learner = request.recipe.common.learner;
  if (learner.model_dir.empty())
    return InvalidArgument("model.path is not set: a folder in Hugging Face layout");
  request.folder = arguments.out;

  RunFlags flags;
  flags.backbone = std::make_shared<NoModel>();
  DAVINCI_ASSIGN_OR_RETURN(
      const Workplace place,
      OpenWorkplace(flags, request.recipe.run, global,
                    [](const std::string& notice) { fmt::print(stderr, "{}\n", notice); }));
  orchestrator::RunHeader& header = request.header;
  header.command = "train";
  header.title = std::filesystem::path(arguments.recipe).stem().string();
  header.version = DAVINCI_VERSION;
  header.created_unix_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  header.identity = orchestrator::Identity(request.recipe.run);
  header.identity["recipe"] = Sha256Hex(request.resolved);
  header.identity["agents.prompts"] = place.prompts->hash();
  request.library_sources = place.library_sources;

  orchestrator::TrainParts parts;
  parts.evaluator = place.evaluator.get();
  parts.prompts = place.prompts.get();
  parts.device = place.parts.device;
  parts.verdict_cache = place.verdict_cache.get();
  parts.num_cores = place.parts.num_cores;
  const int places = request.recipe.run.llm.concurrency;
  parts.open_model =
      [&learner, places](
          const std::filesystem::path& model,
          const std::filesystem::path& adapter) -> Result<std::unique_ptr<llm::Backbone>> {
    embedded::EmbeddedOptions options;
    options.engine.model_dir = model.string();
    options.engine.lora_dir = adapter.string();
    options.engine.device = learner.device;
    options.engine.dtype = learner.compute == trainer::Compute::kFloat32 ? model::Dtype::kFloat32
                           : learner.compute == trainer::Compute::kBfloat16
                               ? model::Dtype::kBfloat16
                               : model::Dtype::kAuto;
    options.engine.max_batch = places;
    options.engine.threads = learner.threads;
    DAVINCI_ASSIGN_OR_RETURN(auto opened, embedded::EmbeddedBackbone::Open(std::move(options)));
    return std::unique_ptr<llm::Backbone>(std::move(opened));
  };
  orchestrator::TrainEvents events;
  events.say = SayLine;
  rollout::StopFlag stop;
  const InterruptWatch watch(&stop);
  DAVINCI_ASSIGN_OR_RETURN(const orchestrator::TrainOutcome outcome,
                           orchestrator::ExecuteTraining(request, parts, &stop, events));
  fmt::print("{} steps, {} updates; the model is {}\n", outcome.steps, outcome.updates,
             outcome.checkpoint.string());
  return Status::Ok();
}

}  // namespace

void AddTrainCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<TrainArguments>();
  CLI::App* command = app.add_subcommand(
      "train", "Train the model of the three agents by reinforcement, from a recipe");
  AddTrainingFlags(command, "recipes/train/davinci.toml", "train.steps=10", arguments.get());
  command->add_flag("--unsafe-no-sandbox", arguments->no_sandbox,
                    "Run candidates without isolation");
  command->footer(
      "Example:\n"
      "  davinci train recipes/train/davinci.toml --set model.path=models/m --set "
      "train.tasks='[\"tasks\"]' --out runs/train-1\n"
      "Exit status: 0 trained, 2 bad recipe, tasks or model, 3 failed.");
  OnCommand(command, "train", exit_code, [arguments, &global] { return Run(*arguments, global); });
}

}  // namespace davinci::app
