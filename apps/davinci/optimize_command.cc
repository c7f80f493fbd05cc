// davinci optimize: the fastest kernel for a module whose correctness and speedup survive being
// judged again.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "commands.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/orchestrator/task_inputs.h"
#include "report.h"
#include "run_console.h"
#include "task_from_file.h"
#include "workplace.h"

namespace davinci::app {
namespace {

struct OptimizeArguments {
  RunFlags flags;
  std::vector<std::string> files;
  EntryFlags entry;
  std::string out;
  bool progress = false;
};

int Fail(const Status& status) {
  fmt::print(stderr, "davinci optimize: {}\n", status.ToString());
  return IsBadInput(status) || status.code() == StatusCode::kFailedPrecondition ? 2 : 3;
}

int Show(const OptimizeArguments& arguments, const orchestrator::RunResult& result) {
  if (arguments.flags.json) {
    fmt::print("{}\n", JsonText(orchestrator::ToJson(result), 2));
  } else {
    if (result.view.recorded)
      fmt::print("The model's replies were recorded earlier; the judge measured live.\n");
    fmt::print("{}", RenderResult(result, UseColor(STDOUT_FILENO)));
  }
  if (!result.trouble.ok() && result.stopped != TrajectoryEnd::kStopped)
    fmt::print(stderr, "davinci optimize: {}\n", result.trouble.ToString());
  return ExitCode(result);
}

Result<orchestrator::RunResult> Run(const OptimizeArguments& arguments, const GlobalOptions& global,
                                    RunConsole* console) {
  if (!arguments.flags.replay.empty())
    return orchestrator::ReplayRun(arguments.flags.replay, {nullptr, nullptr});
  if (arguments.files.empty())
    return InvalidArgument(
        "no task; name a file with class Model, get_inputs() and "
        "get_init_inputs()");
  DAVINCI_ASSIGN_OR_RETURN(ResolvedRecipe resolved, ResolveRecipe(arguments.flags));
  orchestrator::RunRequest request;
  orchestrator::RunHeader& header = request.header;
  DAVINCI_ASSIGN_OR_RETURN(header.tasks, TasksFrom(arguments.files, arguments.entry));
  DAVINCI_RETURN_IF_ERROR(orchestrator::KeepSources(&header.tasks));
  header.command = "optimize";
  header.title = "davinci optimize";
  for (const std::string& file : arguments.files) header.title += " " + file;
  request.export_folder = arguments.out;
  return ExecuteIn(arguments.flags, resolved, global, std::move(request), console->Events());
}

int RunOptimize(const OptimizeArguments& arguments, const GlobalOptions& global) {
  RunConsole console(arguments.flags.json && !arguments.progress && isatty(STDERR_FILENO) == 0);
  auto result = Run(arguments, global, &console);
  console.Done();
  return result.ok() ? Show(arguments, *result) : Fail(result.status());
}

}  // namespace

void AddOptimizeCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<OptimizeArguments>();
  CLI::App* command = app.add_subcommand(
      "optimize",
      "Let a language model write faster kernels for PyTorch modules; the judge decides");
  command->add_option(
      "FILE", arguments->files,
      "Task files (class Model, get_inputs(), get_init_inputs()), FILE.py:NAME, folders or JSONL");
  AddEntryFlags(command, &arguments->entry);
  AddRunFlags(command, &arguments->flags);
  command->add_option("--rollouts", arguments->flags.rollouts, "Rollouts per skill set")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--learn", arguments->flags.learn,
                    "Distil skills from the best rollouts; those that pass a paired experiment "
                    "enter the library");
  command->add_option("--out,-o", arguments->out,
                      "Folder for the exported kernels (default: RUN/results)");
  command->add_flag("--progress", arguments->progress,
                    "With --json: what happens goes to standard error also where that is no "
                    "terminal");
  command->footer(
      "Exit status: 0 every task has a certified kernel, 1 some task has none, 2 bad usage or\n"
      "input, 3 not finished, 4 some kernel is correct but not significantly faster. Interrupted "
      "or killed, the same command goes on where it was.\n"
      "Examples:\n"
      "  davinci optimize my_module.py --llm http://127.0.0.1:8000/v1 --model qwen3-32b\n"
      "  davinci optimize net.py:Net --init '1024' --inputs 'torch.randn(8, 1024)' --llm URL "
      "--model NAME\n"
      "  davinci optimize tasks/softmax --llm URL --model NAME --budget-usd 2 --learn\n"
      "  davinci optimize examples/gated_gelu.py -t cpu --recipe examples/recorded.toml "
      "--llm recorded:examples/replies_cpu.jsonl\n"
      "  davinci optimize --replay davinci-runs/optimize-my_module-1a2b3c4d --json\n"
      "docs/optimize.md explains runs, recipes and results.");
  command->callback(
      [arguments, &global, exit_code] { *exit_code = RunOptimize(*arguments, global); });
}

}  // namespace davinci::app
