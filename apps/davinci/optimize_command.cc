// davinci optimize: the fastest kernel for a module whose correctness and speedup survive being
// judged again.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/llm/refusing_backbone.h"
#include "davinci/runs/task_inputs.h"
#include "davinci/task/task.h"
#include "kernel_file.h"
#include "python_syntax.h"
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
  std::string start;
  std::string more;
  std::string recertify;
};

int Show(const OptimizeArguments& arguments, const runs::RunResult& result) {
  if (arguments.flags.json) {
    fmt::print("{}\n", JsonText(runs::ToJson(result), 2));
  } else {
    if (result.view.recorded)
      fmt::print("The model's replies were recorded earlier; the judge measured live.\n");
    fmt::print("{}", RenderResult(result, UseColor(STDOUT_FILENO)));
  }
  const Status trouble = arguments.flags.json ? result.trouble : UntoldTrouble(result);
  if (!trouble.ok() && result.stopped != TrajectoryEnd::kStopped)
    fmt::print(stderr, "davinci optimize: {}\n", trouble.ToString());
  return ExitCode(result);
}

// The candidate in `file`; of a file that holds nothing but kernels, with the harness around them.
Result<std::string> StartText(const std::string& file, std::vector<task::TaskEntry> tasks) {
  DAVINCI_ASSIGN_OR_RETURN(std::string source, ReadFile(file, kMaxKernelBytes));
  DAVINCI_ASSIGN_OR_RETURN(const TempDir folder, MakeTempDir("davinci-task"));
  DAVINCI_RETURN_IF_ERROR(task::WriteTaskFiles(folder.path(), &tasks));
  DAVINCI_ASSIGN_OR_RETURN(const task::Task task, task::LoadTask(tasks.front().path.string()));
  return IsKernelFile(file, source, task) ? HarnessOf(file, source, task) : std::move(source);
}

// The kernels that the run in `arguments.more` found become what a new run of the same tasks and
// settings starts from, under another seed.
Result<runs::RunResult> RunMore(const OptimizeArguments& arguments, const GlobalOptions& global,
                                RunConsole* console) {
  if (!arguments.files.empty() || !arguments.start.empty())
    return InvalidArgument(
        "--more names a run, which has its tasks and kernels; leave out FILE and --start");
  DAVINCI_ASSIGN_OR_RETURN(const runs::RunResult before,
                           runs::ReplayRun(arguments.more, {nullptr, nullptr}));
  RunFlags flags = arguments.flags;
  flags.recipes.insert(flags.recipes.begin(),
                       (std::filesystem::path(arguments.more) / "recipe.toml").string());
  DAVINCI_ASSIGN_OR_RETURN(ResolvedRecipe resolved, ResolveRecipe(flags));
  // The same seed would ask for the same replies again.
  flags.sets.push_back(fmt::format("run.seed={}", resolved.recipe.step.seed + 1));
  DAVINCI_ASSIGN_OR_RETURN(resolved, ResolveRecipe(flags));
  runs::RunRequest request;
  runs::RunHeader& header = request.header;
  for (const report::TaskView& task : before.view.tasks) {
    header.tasks.push_back(task.task);
    const report::Winner* best = report::BestKernel(task);
    if (best == nullptr) continue;
    const auto source = before.view.sources.find(best->code_hash);
    if (source != before.view.sources.end()) request.start[task.task.id] = source->second;
  }
  DAVINCI_RETURN_IF_ERROR(runs::KeepSources(&header.tasks));
  header.command = "optimize";
  header.title = "davinci optimize --more " + arguments.more;
  request.export_folder = arguments.out;
  return ExecuteIn(flags, resolved, global, std::move(request), console->Events());
}

// Judges the best kernels of a run again. No model is opened.
Result<runs::RunResult> Recertify(const OptimizeArguments& arguments, const GlobalOptions& global,
                                  RunConsole* console) {
  if (!arguments.files.empty() || !arguments.start.empty() || !arguments.more.empty())
    return InvalidArgument(
        "--recertify names a run, which has its tasks and kernels; leave out FILE, --start and "
        "--more");
  if (!store::RunStore::IsRun(arguments.recertify))
    return NotFound(fmt::format("{} holds no run; see: davinci runs list", arguments.recertify));
  if (const auto run = store::RunStore::OpenForReading(arguments.recertify); run.ok())
    if (const auto header = runs::HeaderFrom(**run); header.ok())
      console->Expect(header->tasks.size());
  std::string resolved;
  DAVINCI_ASSIGN_OR_RETURN(runs::RunRecipe recipe, runs::RecipeOf(arguments.recertify, &resolved));
  recipe.judge.unsafe_no_sandbox = recipe.judge.unsafe_no_sandbox || arguments.flags.no_sandbox;
  RunFlags flags = arguments.flags;
  flags.backbone = llm::RefusingBackbone("--recertify asks no model");
  const runs::RunEvents events = console->Events();
  DAVINCI_ASSIGN_OR_RETURN(Workplace place, OpenWorkplace(flags, recipe, global, events.note));
  rollout::StopFlag stop;
  const InterruptWatch watch(OnInterrupt(&stop));
  return runs::RecertifyRun(arguments.recertify, arguments.out, place.parts, &stop, events);
}

Result<runs::RunResult> Run(const OptimizeArguments& arguments, const GlobalOptions& global,
                            RunConsole* console) {
  if (!arguments.flags.replay.empty())
    return runs::ReplayRun(arguments.flags.replay, {nullptr, nullptr});
  if (!arguments.recertify.empty()) return Recertify(arguments, global, console);
  if (!arguments.more.empty()) return RunMore(arguments, global, console);
  if (arguments.files.empty())
    return InvalidArgument(
        "no task; name a file with class Model, get_inputs() and "
        "get_init_inputs()");
  DAVINCI_ASSIGN_OR_RETURN(ResolvedRecipe resolved, ResolveRecipe(arguments.flags));
  runs::RunRequest request;
  runs::RunHeader& header = request.header;
  auto tasks = TasksFrom(arguments.files, arguments.entry);
  if (!tasks.ok()) {
    const auto installation = FindInstallation(global.python);
    return installation.ok() ? OrSyntaxError(tasks.status(), arguments.files, installation->python)
                             : tasks.status();
  }
  header.tasks = std::move(tasks).value();
  DAVINCI_RETURN_IF_ERROR(runs::KeepSources(&header.tasks));
  header.command = "optimize";
  header.title = "davinci optimize";
  for (const std::string& file : arguments.files) header.title += " " + file;
  request.export_folder = arguments.out;
  console->Expect(header.tasks.size());
  if (!arguments.start.empty()) {
    if (header.tasks.size() != 1)
      return InvalidArgument(
          fmt::format("--start is for one task, there are {}; name one file", header.tasks.size()));
    DAVINCI_ASSIGN_OR_RETURN(request.start[header.tasks[0].id],
                             StartText(arguments.start, header.tasks));
  }
  return ExecuteIn(arguments.flags, resolved, global, std::move(request), console->Events());
}

int RunOptimize(const OptimizeArguments& arguments, const GlobalOptions& global) {
  RunConsole console(arguments.flags.json && !arguments.progress && isatty(STDERR_FILENO) == 0);
  auto result = Run(arguments, global, &console);
  console.Done();
  return result.ok() ? Show(arguments, *result)
                     : FailCommand("optimize", result.status(), arguments.flags.json);
}

}  // namespace

void AddOptimizeCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<OptimizeArguments>();
  const runs::RunRecipe usual;
  CLI::App* command = app.add_subcommand(
      "optimize",
      "Let the expert or a language model write faster kernels for PyTorch modules; the judge "
      "decides");
  command->add_option(
      "FILE", arguments->files,
      "Task files (class Model, get_inputs(), get_init_inputs()), FILE.py:NAME, folders or JSONL");
  AddEntryFlags(command, &arguments->entry);
  AddRunFlags(command, &arguments->flags);
  arguments->flags.expert_by_default = true;
  command
      ->add_option("--rollouts", arguments->flags.rollouts,
                   fmt::format("Rollouts per skill set (default: {})", usual.step.rollouts))
      ->check(CLI::Range(1, 1000));
  command->add_flag("--learn", arguments->flags.learn,
                    "Distil skills from the best rollouts; those that pass a paired experiment "
                    "enter the library");
  command->add_option("--start", arguments->start,
                      "A kernel of yours to start from: judged first, shown with the task, and "
                      "among those that can win");
  command->add_option("--hints", arguments->flags.hints,
                      "Advice for the model, shown with every task: text, or @FILE");
  command->add_option("--more", arguments->more,
                      "A finished run: search on from its best kernels, with its tasks and "
                      "settings; --rollouts and --turns say how much more");
  command->add_option("--recertify", arguments->recertify,
                      "A run: measure its best kernels again, without any model call; for "
                      "results that a busy machine left undecided");
  command->add_option("--out,-o", arguments->out,
                      "Folder for the exported kernels (default: RUN/results)");
  command->add_flag("--progress", arguments->progress,
                    "With --json: what happens goes to standard error also where that is no "
                    "terminal");
  command->footer(
      "Exit status: 0 every task has a certified kernel, 1 some task has none, 2 bad usage or\n"
      "input, 3 not finished, 4 some kernel is correct but not significantly faster, or the\n"
      "machine was too busy to decide it. Interrupted or killed, the same command continues where\n"
      "it was; of a finished run it measures again what was not decided.\n"
      "Examples:\n"
      "  davinci optimize my_module.py\n"
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
