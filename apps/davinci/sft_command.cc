// davinci sft: supervised training of a model on chat rows.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "commands.h"
#include "davinci/base/interrupt.h"
#include "davinci/comm/agree.h"
#include "davinci/comm/join.h"
#include "davinci/trainer/sft.h"
#include "report.h"
#include "sft_answers.h"
#include "training_flags.h"

namespace davinci::app {
namespace {

Result<trainer::SftRun> Prepare(const TrainingFlags& arguments, bool speaks) {
  DAVINCI_ASSIGN_OR_RETURN(const config::Recipe recipe, LoadRecipe(arguments));
  trainer::SftRun run;
  DAVINCI_ASSIGN_OR_RETURN(run.settings, trainer::ReadSftRecipe(recipe, &run.resolved));
  if (arguments.out.empty() && !arguments.dry_run)
    return InvalidArgument("--out is not set: the run's folder");
  run.folder = arguments.out;
  run.say = [speaks](const std::string& line) {
    if (speaks) SayLine(line);
  };
  return run;
}

// At -Og gcc 12 takes the state of a std::stop_source for uninitialised.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
Status Train(trainer::SftRun run, bool speaks) {
  CancelSource cancel;
  if (speaks) run.answer = AnswerWithBench(run.settings, run.folder, cancel.get_token());
  const InterruptWatch watch([&] { cancel.request_stop(); });  // behind the update under way
  DAVINCI_ASSIGN_OR_RETURN(const trainer::SftOutcome outcome,
                           trainer::RunSft(run, cancel.get_token()));
  if (speaks)
    fmt::print("{} updates, loss {:.4f} -> {:.4f}; the model is {}\n", outcome.updates,
               outcome.first_loss, outcome.last_loss, outcome.checkpoint.string());
  return Status::Ok();
}
#pragma GCC diagnostic pop

// The exit status. What all ranks agree on is said by rank 0 alone.
int Run(const TrainingFlags& arguments) {
  const auto world = comm::WorldFromEnvironment(std::getenv);
  if (!world.ok()) return FailCommand("sft", world.status());
  const bool speaks = world->rank == 0;
  if (arguments.dry_run) {
    if (!speaks) return 0;
    const auto run = Prepare(arguments, speaks);
    if (!run.ok()) return FailCommand("sft", run.status());
    const auto text = trainer::DescribeSft(run->settings, world->size);
    if (!text.ok()) return FailCommand("sft", text.status());
    fmt::print("{}\n{}", run->resolved, *text);
    return 0;
  }
  const auto group = comm::Join(*world);
  if (!group.ok())
    return FailCommand("sft", world->size == 1
                                  ? group.status()
                                  : group.status().Annotate(fmt::format("rank {}", world->rank)));
  auto run = Prepare(arguments, speaks);
  Status status = comm::Agree(group->get(), run.status());
  if (status.ok()) {
    run->ranks = group->get();
    status = Train(std::move(*run), speaks);
  }
  if (status.ok()) return 0;
  return speaks ? FailCommand("sft", status) : ExitStatus(status);
}

}  // namespace

void AddSftCommand(CLI::App& app, GlobalOptions&, int* exit_code) {
  auto arguments = std::make_shared<TrainingFlags>();
  CLI::App* command =
      app.add_subcommand("sft", "Train a model on chat rows (supervised), from a recipe");
  AddTrainingFlags(command, "recipes/train/sft.toml", "optimizer.learning_rate=1e-4",
                   arguments.get());
  command->footer(
      "Examples:\n"
      "  davinci sft recipes/train/sft.toml --set model.path=models/m --set "
      "data.train='[\"x.jsonl\"]' "
      "--dry-run\n"
      "  davinci sft my.toml --out runs/sft-1\n"
      "  mpirun -n 2 davinci sft my.toml --out runs/sft-1            # CPU or CUDA\n"
      "  torchrun --nproc-per-node 8 --no-python davinci sft my.toml --out runs/sft-1\n"
      "Exit status: 0 trained, 2 bad recipe, data or model, 3 failed.");
  command->callback([arguments, exit_code] { *exit_code = Run(*arguments); });
}

}  // namespace davinci::app
