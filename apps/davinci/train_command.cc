// davinci train: reinforcement learning of the three agents' model, from a recipe.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "commands.h"
#include "davinci/base/hash.h"
#include "davinci/comm/agree.h"
#include "davinci/comm/join.h"
#include "davinci/comm/world.h"
#include "davinci/embedded/device_turn.h"
#include "davinci/embedded/embedded_backbone.h"
#include "davinci/gpu/device.h"
#include "davinci/gpu/visible_devices.h"
#include "davinci/llm/refusing_backbone.h"
#include "davinci/runs/run_identity.h"
#include "davinci/training/train_forecast.h"
#include "davinci/training/train_loop.h"
#include "davinci/training/train_ranks.h"
#include "davinci/training/train_tasks.h"
#include "report.h"
#include "run_console.h"
#include "training_flags.h"
#include "workplace.h"

namespace davinci::app {
namespace {

struct TrainArguments : TrainingFlags {
  bool no_sandbox = false;
};

Result<training::TrainRequest> Prepare(const TrainArguments& arguments) {
  DAVINCI_ASSIGN_OR_RETURN(config::Recipe recipe, LoadRecipe(arguments));
  if (arguments.no_sandbox)
    DAVINCI_RETURN_IF_ERROR(recipe.Override("judge.unsafe_no_sandbox=true"));
  training::TrainRequest request;
  DAVINCI_ASSIGN_OR_RETURN(request.recipe, training::ReadTrainRecipe(recipe, &request.resolved));
  if (arguments.dry_run) return request;
  if (arguments.out.empty()) return InvalidArgument("--out is not set: the run's folder");
  if (request.recipe.common.learner.model_dir.empty())
    return InvalidArgument("model.path is not set: a folder in Hugging Face layout");
  request.folder = arguments.out;
  return request;
}

Result<Workplace> OpenPlace(const training::TrainRequest& request,
                            const std::vector<Target>& targets, const GlobalOptions& global) {
  RunFlags flags;
  flags.further_targets.assign(targets.begin() + 1, targets.end());
  // Training opens its own model for each step.
  flags.backbone = llm::RefusingBackbone("training samples from its own model");
  return OpenWorkplace(flags, request.recipe.run, global,
                       [](const std::string& notice) { fmt::print(stderr, "{}\n", notice); });
}

// Returns InvalidArgument for a device that this machine does not have.
Status CheckVisible(const std::vector<std::string>& devices, size_t visible) {
  std::vector<std::string> names = {"cpu"};
  for (size_t i = 0; i < visible; ++i) names.push_back(fmt::format("cuda:{}", i));
  for (const std::string& device : devices)
    if (std::ranges::find(names, device) == names.end())
      return InvalidArgument(fmt::format("train.sample_devices names \"{}\"; this machine has {}",
                                         device, fmt::join(names, ", ")));
  return Status::Ok();
}

// The devices that the model is sampled on, and of all that train: those of the ranks of this
// machine, or the recipe's. InvalidArgument where one of them is reserved for judging.
Result<std::vector<std::string>> SampleDevices(const training::TrainRequest& request) {
  const std::string& own = request.recipe.common.learner.device;
  const auto visible = gpu::VisibleDevices(*gpu::DeviceMonitor::Create());
  std::vector<std::string> trains = {own};
  const bool on_first = (own == "auto" || own == "cuda") && !visible.empty();
  // A launcher may show each rank its own device only.
  if (request.ranks != nullptr && own != "cpu" &&
      std::ssize(visible) >= request.ranks->world().local_size)
    for (int rank = 1; rank < request.ranks->world().local_size; ++rank)
      trains.push_back(fmt::format("cuda:{}", rank));
  if (trains.size() > 1) trains.front() = "cuda:0";
  const std::vector<std::string>& asked = request.recipe.sample_devices;
  DAVINCI_RETURN_IF_ERROR(CheckVisible(asked, visible.size()));
  const std::vector<std::string> samples = asked.empty() ? trains : asked;
  const std::string& judges = request.recipe.run.judge.devices;
  if (judges == "all") return samples;
  DAVINCI_ASSIGN_OR_RETURN(const auto reserved, gpu::ChooseDevices(visible, judges));
  const auto check = [&](const std::vector<std::string>& devices, const char* what) -> Status {
    for (const std::string& device : devices) {
      const std::string name = on_first && device == own ? "cuda:0" : device;
      if (std::ranges::count(reserved, embedded::LeaseName(name, visible)) > 0)
        return InvalidArgument(
            fmt::format("judge.devices = \"{}\" reserves {}, where the model is {}; choose others "
                        "for model.device, train.sample_devices or judge.devices",
                        judges, name, what));
    }
    return Status::Ok();
  };
  DAVINCI_RETURN_IF_ERROR(check(trains, "trained"));
  DAVINCI_RETURN_IF_ERROR(check(samples, "sampled"));
  return samples;
}

// Returns InvalidArgument where rollouts cannot be sampled while a step is trained.
Status CheckOverlap(const training::TrainRecipe& recipe) {
  if (recipe.max_staleness == 0) return Status::Ok();
  const trainer::LearnerOptions& learner = recipe.common.learner;
  const bool cuda =
      learner.device.starts_with("cuda") ||
      (learner.device == "auto" && !gpu::VisibleDevices(*gpu::DeviceMonitor::Create()).empty());
  if (cuda && learner.deterministic)
    return InvalidArgument(
        "train.max_staleness samples while it trains, and what samples on cuda has no "
        "deterministic operations; set model.deterministic = false, or train.max_staleness = 0");
  return Status::Ok();
}

// Where training goes on beside rollouts, it takes turns with those who time on the same device.
void TakeTurnsWithJudges(training::TrainRequest* request) {
  if (request->recipe.max_staleness == 0 || request->recipe.run.judge.devices != "all") return;
  request->take_turn = [turn = std::shared_ptr<model::DeviceTurn>()](
                           const std::string& device) mutable -> Result<std::shared_ptr<void>> {
    if (!device.starts_with("cuda")) return std::shared_ptr<void>();
    if (turn == nullptr) {
      DAVINCI_ASSIGN_OR_RETURN(turn, embedded::OpenDeviceTurn(device));
    }
    return embedded::HoldTurn(turn);
  };
}

// The parts that rank 0 samples and judges with.
struct Place {
  std::optional<Workplace> workplace;
  std::vector<std::string> devices;  // the model is sampled on
  training::TrainParts parts;
};

// The targets that tasks of the run have, that of [task] first.
Result<std::vector<Target>> TargetsOf(const training::TrainRecipe& recipe) {
  const rollout::StepSettings& step = recipe.run.step;
  std::vector<Target> targets = {step.target};
  for (const auto* sets : {&recipe.tasks, &recipe.held_out})
    for (const std::string& set : *sets) {
      DAVINCI_ASSIGN_OR_RETURN(const auto named,
                               training::ParseTaskSet(set, {step.target, step.language}));
      if (std::ranges::find(targets, named.kind.target) == targets.end())
        targets.push_back(named.kind.target);
    }
  return targets;
}

// Opens what rank 0 needs and completes the request. `place` outlives the training.
Status OpenRank0(const TrainArguments& arguments, const GlobalOptions& global,
                 training::TrainRequest* request, Place* place) {
  DAVINCI_ASSIGN_OR_RETURN(const auto targets, TargetsOf(request->recipe));
  DAVINCI_RETURN_IF_ERROR(CheckOverlap(request->recipe));
  DAVINCI_ASSIGN_OR_RETURN(place->devices, SampleDevices(*request));
  DAVINCI_ASSIGN_OR_RETURN(place->workplace, OpenPlace(*request, targets, global));
  const Workplace& workplace = *place->workplace;
  runs::RunHeader& header = request->header;
  header.command = "train";
  header.title = std::filesystem::path(arguments.recipes.front()).stem().string();
  header.version = DAVINCI_VERSION;
  header.created_unix_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  header.identity = runs::Identity(request->recipe.run);
  header.identity["recipe"] = Sha256Hex(request->resolved);
  header.identity["agents.prompts"] = workplace.prompts->hash();
  request->library_sources = workplace.library_sources;

  training::TrainParts& parts = place->parts;
  parts.judges = workplace.judges.get();
  parts.prompts = workplace.prompts.get();
  for (const Target target : targets)
    parts.devices.push_back(FactsOf(target, workplace.parts.num_cores, workplace.described));
  parts.verdict_cache = workplace.verdict_cache.get();
  parts.num_cores = workplace.parts.num_cores;
  parts.add_steps = workplace.parts.add_steps;
  parts.open_model =
      [learner = request->recipe.common.learner, devices = &place->devices,
       places = request->recipe.run.llm.concurrency](
          const std::filesystem::path& model,
          const std::filesystem::path& adapter) -> Result<std::unique_ptr<llm::Backbone>> {
    embedded::EmbeddedOptions options;
    options.engine.model_dir = model.string();
    options.engine.lora_dir = adapter.string();
    options.engine.dtype = learner.compute == trainer::Compute::kFloat32 ? model::Dtype::kFloat32
                           : learner.compute == trainer::Compute::kBfloat16
                               ? model::Dtype::kBfloat16
                               : model::Dtype::kAuto;
    options.engine.max_batch = places;
    options.engine.threads = learner.threads;
    return embedded::OpenOnDevices(options, *devices);
  };
  return Status::Ok();
}

// Every rank runs this; rank 0 samples and judges for all.
Status Train(const TrainArguments& arguments, training::TrainRequest request,
             const GlobalOptions& global) {
  const training::TrainRanks ranks(request.ranks);
  TakeTurnsWithJudges(&request);
  Place place;
  DAVINCI_RETURN_IF_ERROR(
      ranks.Lead([&] { return OpenRank0(arguments, global, &request, &place); }));
  training::TrainEvents events;
  events.say = SayLine;
  rollout::StopFlag stop;
  std::optional<InterruptWatch> watch;
  if (ranks.leads()) watch.emplace(OnInterrupt(&stop));
  DAVINCI_ASSIGN_OR_RETURN(const training::TrainOutcome outcome,
                           training::ExecuteTraining(request, place.parts, &stop, events));
  if (!ranks.leads()) return Status::Ok();
  fmt::print("{} steps, {} updates; the model is {}\n", outcome.steps, outcome.updates,
             outcome.checkpoint.string());
  if (outcome.best)
    fmt::print("best on the held-out tasks: the checkpoint of step {}\n", *outcome.best);
  return Status::Ok();
}

Status DryRun(const training::TrainRequest& request) {
  // What is missing is said with what can be said of the rest.
  const Status complete = training::CheckTraining(request.recipe);
  training::TrainMachine machine;
  const std::string& device = request.recipe.common.learner.device;
  machine.cuda = device.starts_with("cuda") ||
                 (device == "auto" && !gpu::VisibleDevices(*gpu::DeviceMonitor::Create()).empty());
  machine.num_cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto text = training::DescribeTraining(request.recipe, machine);
  if (text.ok()) fmt::print("{}\n{}", request.resolved, *text);
  DAVINCI_RETURN_IF_ERROR(complete);
  return text.status();
}

// The exit status. What all ranks agree on is said by rank 0 alone.
int Run(const TrainArguments& arguments, const GlobalOptions& global) {
  const auto world = comm::WorldFromEnvironment(std::getenv);
  if (!world.ok()) return FailCommand("train", world.status());
  const bool leads = world->rank == 0;
  // mpirun passes it on to all ranks; rank 0 stops the run, and says so to the others.
  if (!leads) std::signal(SIGUSR1, SIG_IGN);
  auto request = Prepare(arguments);
  if (arguments.dry_run) {
    if (!leads) return 0;
    const Status status = request.ok() ? DryRun(*request) : request.status();
    return status.ok() ? 0 : FailCommand("train", status);
  }
  const auto group = comm::Join(*world);
  if (!group.ok())
    return FailCommand("train", world->size == 1
                                    ? group.status()
                                    : group.status().Annotate(fmt::format("rank {}", world->rank)));
  Status status = comm::Agree(group->get(), request.status());
  if (status.ok()) {
    request->ranks = group->get();
    status = Train(arguments, std::move(request).value(), global);
  }
  if (status.ok()) return 0;
  return leads ? FailCommand("train", status) : ExitStatus(status);
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
      "Examples:\n"
      "  davinci train recipes/train/davinci.toml --set model.path=models/m --set "
      "train.tasks='[\"tasks\"]' --out runs/train-1\n"
      "  mpirun -n 2 davinci train my.toml --out runs/train-1       # rank 0 samples and judges\n"
      "Exit status: 0 trained, 2 bad recipe, tasks or model, 3 failed.");
  command->callback([arguments, &global, exit_code] { *exit_code = Run(*arguments, global); });
}

}  // namespace davinci::app
