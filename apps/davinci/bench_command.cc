// davinci bench: how good a model is at a set of tasks, with intervals.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "commands.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/data/task_set.h"
#include "davinci/score/protocol.h"
#include "report.h"
#include "run_console.h"
#include "workplace.h"

namespace davinci::app {
namespace {

struct BenchArguments {
  RunFlags flags;
  std::string tasks;
  std::vector<int> levels;
  std::vector<std::string> ids;
  int samples = -1;
  std::string protocol = "bench";
};

int Fail(const Status& status) {
  fmt::print(stderr, "davinci bench: {}\n", status.ToString());
  return IsBadInput(status) || status.code() == StatusCode::kFailedPrecondition ? 2 : 3;
}

Result<orchestrator::RunResult> Run(const BenchArguments& arguments, const GlobalOptions& global,
                                    RunConsole* console) {
  if (!arguments.flags.replay.empty())
    return orchestrator::ReplayRun(arguments.flags.replay, {nullptr, nullptr});
  if (arguments.tasks.empty())
    return InvalidArgument("no tasks; name a folder or a JSONL file with --tasks");
  // A benchmark measures the model alone unless skills are asked for, and every turn counts.
  RunFlags flags = arguments.flags;
  flags.defaults = {"selection.schemes=0", "judge.turn_protocol=\"davinci\""};
  if (arguments.samples > 0) flags.rollouts = arguments.samples;
  DAVINCI_ASSIGN_OR_RETURN(ResolvedRecipe resolved, ResolveRecipe(flags));
  orchestrator::RunRequest request;
  orchestrator::RunHeader& header = request.header;
  DAVINCI_ASSIGN_OR_RETURN(header.tasks,
                           LoadTaskSet(arguments.tasks, {arguments.levels, arguments.ids}));
  DAVINCI_RETURN_IF_ERROR(orchestrator::KeepSources(&header.tasks));
  header.command = "bench";
  header.title = "davinci bench " + arguments.tasks;
  request.winners = false;
  return ExecuteIn(flags, resolved, global, std::move(request), console->Events());
}

int RunBench(const BenchArguments& arguments, const GlobalOptions& global) {
  const auto protocol = score::ProtocolByName(arguments.protocol);
  if (!protocol.ok()) return Fail(protocol.status());
  RunConsole console(arguments.flags.json && isatty(STDERR_FILENO) == 0);
  auto result = Run(arguments, global, &console);
  console.Done();
  if (!result.ok()) return Fail(result.status());
  const score::ScoreReport report = score::Score(report::ScoreInputOf(result->view), **protocol);
  if (arguments.flags.json) {
    nlohmann::json document = score::ToJson(report);
    document["run"] = orchestrator::ToJson(*result);
    fmt::print("{}\n", JsonText(document, 2));
  } else {
    fmt::print("{}",
               score::ScoreTable(report, UseColor(STDOUT_FILENO), TerminalWidth(STDOUT_FILENO)));
    fmt::print("{}", RenderStages(result->stages, UseColor(STDOUT_FILENO)));
    for (const auto& [task, status] : result->failed_tasks)
      fmt::print("failed: {}: {}\n", Printable(task), Printable(status.message()));
    fmt::print("run: {}\n", result->view.folder);
  }
  if (!result->trouble.ok()) fmt::print(stderr, "davinci bench: {}\n", result->trouble.ToString());
  return result->finished() && result->trouble.ok() ? 0 : 3;
}

}  // namespace

void AddBenchCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand(
      "bench", "Score a language model on a set of tasks: fast_p, pass@k, speedups, intervals");
  command->add_option("--tasks", arguments->tasks, "Folder (KernelBench layout) or JSONL");
  command->add_option("--levels", arguments->levels, "Only these levels")->delimiter(',');
  command->add_option("--only", arguments->ids, "Only these tasks")->delimiter(',');
  AddRunFlags(command, &arguments->flags);
  command->add_option("--samples,-n", arguments->samples, "Samples (rollouts) per task")
      ->check(CLI::Range(1, 1000));
  command->add_option("--protocol", arguments->protocol,
                      "Scoring rules; `davinci report RUN --protocol …` rescores later");
  command->footer(
      "Exit status: 0 finished, 2 bad usage or input, 3 not finished; the same command goes on.\n"
      "Examples:\n"
      "  davinci bench --tasks KernelBench/ --levels 1,2 --samples 4 --llm URL --model NAME\n"
      "  davinci bench --tasks tasks --turns 3 --llm URL --model NAME --json > score.json\n"
      "docs/bench.md defines the metrics.");
  command->callback([arguments, &global, exit_code] { *exit_code = RunBench(*arguments, global); });
}

}  // namespace davinci::app
