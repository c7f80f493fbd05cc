// davinci sft: supervised training of a model on chat rows.

#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "commands.h"
#include "davinci/config/recipe.h"
#include "davinci/trainer/sft.h"

namespace davinci::app {
namespace {

struct SftArguments {
  std::string recipe;
  std::vector<std::string> sets;
  std::string out;
  bool dry_run = false;
};

int Fail(const Status& status) {
  fmt::print(stderr, "davinci sft: {}\n", status.ToString());
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kFailedPrecondition:
      return 2;
    default:
      return 3;
  }
}

std::atomic<int> interrupts = 0;

Result<trainer::SftRun> Prepare(const SftArguments& arguments) {
  DAVINCI_ASSIGN_OR_RETURN(config::Recipe recipe, config::Recipe::Load(arguments.recipe));
  for (const std::string& set : arguments.sets) DAVINCI_RETURN_IF_ERROR(recipe.Override(set));
  trainer::SftRun run;
  DAVINCI_ASSIGN_OR_RETURN(run.settings, trainer::ReadSftRecipe(recipe, &run.resolved));
  run.folder = arguments.out;
  run.say = [](const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  return run;
}

Status Run(const SftArguments& arguments) {
  DAVINCI_ASSIGN_OR_RETURN(const trainer::SftRun run, Prepare(arguments));
  if (arguments.dry_run) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string text, trainer::DescribeSft(run.settings));
    fmt::print("{}\n{}", run.resolved, text);
    return Status::Ok();
  }
  if (arguments.out.empty()) return InvalidArgument("--out is not set: the run's folder");
  // The first interrupt ends the run behind the update under way, the second ends the process.
  CancelSource cancel;
  struct sigaction action {};
  action.sa_handler = [](int) {
    if (++interrupts > 1) ::_exit(130);
  };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::jthread watcher([&](const std::stop_token& ended) {
    while (SleepUnlessCancelled(0.1, ended))
      if (interrupts > 0) cancel.request_stop();
  });
  DAVINCI_ASSIGN_OR_RETURN(const trainer::SftOutcome outcome,
                           trainer::RunSft(run, cancel.get_token()));
  fmt::print("{} updates, loss {:.4f} -> {:.4f}; the model is {}\n", outcome.updates,
             outcome.first_loss, outcome.last_loss, outcome.checkpoint.string());
  return Status::Ok();
}

}  // namespace

void AddSftCommand(CLI::App& app, GlobalOptions&, int* exit_code) {
  auto arguments = std::make_shared<SftArguments>();
  CLI::App* command =
      app.add_subcommand("sft", "Train a model on chat rows (supervised), from a recipe");
  command->add_option("recipe", arguments->recipe, "TOML file; see recipes/train/sft.toml")
      ->required();
  command->add_option("-o,--out", arguments->out,
                      "The run's folder: logs and checkpoints. Started again on it, training goes "
                      "on behind the newest checkpoint");
  command->add_option("--set", arguments->sets,
                      "One setting of the recipe: --set optimizer.learning_rate=1e-4");
  command->add_flag("--dry-run", arguments->dry_run,
                    "Print the resolved recipe, step shapes, memory and time; train nothing");
  command->footer(
      "Examples:\n"
      "  davinci sft recipes/train/sft.toml --set model.path=models/m --set "
      "data.train='[\"x.jsonl\"]' "
      "--dry-run\n"
      "  davinci sft my.toml --out runs/sft-1\n"
      "Exit status: 0 trained, 2 bad recipe, data or model, 3 failed.");
  command->callback([arguments, exit_code] {
    const Status status = Run(*arguments);
    *exit_code = status.ok() ? 0 : Fail(status);
  });
}

}  // namespace davinci::app
