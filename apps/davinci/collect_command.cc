// davinci collect: trajectories of a teacher over a task set, in two passes.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/runs/task_inputs.h"
#include "report.h"
#include "run_console.h"
#include "workplace.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

struct CollectArguments {
  RunFlags flags;
  std::vector<std::string> tasks;
  std::string out;
};

// Rollouts are data, not a search: every one has all its turns, and no other one ends it.
const std::vector<std::string>& Defaults() {
  static const std::vector<std::string> defaults = {"stop.roofline_share=0",
                                                    "stop.stagnant_turns=0", "stop.shared=false",
                                                    "selection.respend_saved_rollouts=false"};
  return defaults;
}

// Pass 1: no skills in the prompts; winning trajectories become skills, each put to an experiment.
// Pass 2: the skills of the library and of pass 1 are chosen by the selection agent and stand in
// the prompts from the first turn. Rollouts without skills are those of pass 1.
struct Pass {
  const char* name;
  std::vector<std::string> sets;
};
const std::vector<Pass>& Plan() {
  static const std::vector<Pass> plan = {
      {"pass-1", {"selection.schemes=0", "selection.null_scheme=true", "learn.enabled=true"}},
      {"pass-2", {"selection.null_scheme=false", "learn.enabled=false"}}};
  return plan;
}

Result<runs::RunResult> RunPass(const CollectArguments& arguments, size_t number,
                                const std::vector<task::TaskEntry>& tasks,
                                const GlobalOptions& global, RunConsole* console) {
  const Pass& pass = Plan()[number];
  RunFlags flags = arguments.flags;
  flags.defaults = Defaults();
  for (const std::string& set : pass.sets) flags.sets.push_back(set);
  const fs::path folder = fs::path(arguments.out) / pass.name;
  flags.run = folder.string();
  flags.publish = false;
  if (number == 0) {
    flags.schemes = -1;
  } else {
    flags.library = (fs::path(arguments.out) / Plan()[0].name / "library.sqlite").string();
  }
  DAVINCI_ASSIGN_OR_RETURN(const ResolvedRecipe resolved, ResolveRecipe(flags));
  if (number > 0 && resolved.recipe.step.schemes == 0)
    return InvalidArgument("--schemes 0: pass 2 needs at least one choice of skills per task");
  runs::RunRequest request;
  request.header.tasks = tasks;
  request.header.command = "collect";
  request.header.title = fmt::format("davinci collect, {}", pass.name);
  request.winners = false;
  return ExecuteIn(flags, resolved, global, std::move(request), console->Events());
}

nlohmann::json SummaryOf(const runs::RunResult& result) {
  int64_t trajectories = 0;
  int64_t turns = 0;
  int64_t correct = 0;
  int64_t selections = 0;
  int64_t summaries = 0;
  for (const report::TaskView& task : result.view.tasks) {
    trajectories += static_cast<int64_t>(task.trajectories.size());
    for (const Trajectory& trajectory : task.trajectories)
      for (const Turn& turn : trajectory.turns) {
        ++turns;
        correct += turn.evaluation.outcome == Outcome::kOk;
      }
    for (const Selection& selection : task.selections) selections += !selection.prompt_hash.empty();
    summaries += static_cast<int64_t>(task.summaries.size());
  }
  return {{"tasks", result.view.tasks.size()},
          {"trajectories", trajectories},
          {"turns", turns},
          {"correct_turns", correct},
          {"selections", selections},
          {"summaries", summaries},
          {"skills_admitted", result.learned},
          {"model_calls", result.cost.calls},
          {"usd", result.cost.usd},
          {"finished", result.finished()}};
}

Result<bool> Run(const CollectArguments& arguments, const GlobalOptions& global,
                 RunConsole* console) {
  DAVINCI_ASSIGN_OR_RETURN(auto tasks, runs::LoadTasks(arguments.tasks, {}));
  DAVINCI_RETURN_IF_ERROR(runs::KeepSources(&tasks));
  nlohmann::json document = {{"schema", "davinci.collect/1"}, {"version", DAVINCI_VERSION}};
  for (size_t number = 0; number < Plan().size(); ++number) {
    DAVINCI_ASSIGN_OR_RETURN(const runs::RunResult result,
                             RunPass(arguments, number, tasks, global, console));
    console->Done();
    const nlohmann::json summary = SummaryOf(result);
    document[Plan()[number].name] = summary;
    if (!arguments.flags.json)
      fmt::print(
          "{}: {} trajectories, {} of {} turns correct, {} selections, {} summaries, {} "
          "skills admitted; {} model calls, {}\n",
          Plan()[number].name, summary["trajectories"].get<int64_t>(),
          summary["correct_turns"].get<int64_t>(), summary["turns"].get<int64_t>(),
          summary["selections"].get<int64_t>(), summary["summaries"].get<int64_t>(),
          result.learned.size(), result.cost.calls, MoneyText(result.cost));
    for (const auto& [task, status] : result.failed_tasks)
      fmt::print(stderr, "failed: {}: {}\n", Printable(task), Printable(status.message()));
    if (!result.trouble.ok()) return result.trouble;
    // The second pass is given what the first one learned, so it waits for all of it.
    if (!result.finished()) {
      if (arguments.flags.json) fmt::print("{}\n", JsonText(document, 2));
      return false;
    }
  }
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(fs::path(arguments.out) / "collect.json", JsonText(document, 2) + "\n"));
  if (arguments.flags.json)
    fmt::print("{}\n", JsonText(document, 2));
  else
    fmt::print("next: davinci sft-data {} --out data\n", arguments.out);
  return true;
}

}  // namespace

void AddCollectCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<CollectArguments>();
  const runs::RunRecipe usual;
  CLI::App* command = app.add_subcommand(
      "collect", "Judged trajectories of a teacher model, with and without skills, for sft-data");
  command->add_option("TASKS", arguments->tasks, "Task files, folders or JSONL")->required();
  command
      ->add_option("-o,--out", arguments->out,
                   "Folder of the collection; the same command continues where it stopped")
      ->required();
  AddRunFlags(command, &arguments->flags);
  command
      ->add_option("--rollouts", arguments->flags.rollouts,
                   fmt::format("Rollouts per skill set and task, in each pass (default: {})",
                               usual.step.rollouts))
      ->check(CLI::Range(1, 1000));
  command->footer(
      "Pass 1 writes kernels without skills and distils skills from winning trajectories; each "
      "skill\nhas to pass a paired experiment. Pass 2 lets the selection agent choose among the "
      "library and\nthe new skills, and writes kernels with them in the prompt. Nothing enters "
      "your own library.\n"
      "OUT/pass-1 and OUT/pass-2 are runs: davinci report reads them, davinci sft-data makes "
      "rows.\n"
      "Budgets hold for each pass.\n"
      "Examples:\n"
      "  davinci collect tasks --llm http://127.0.0.1:8000/v1 --model qwen3-32b --out collected\n"
      "  davinci collect tasks.jsonl --llm recorded:replies.jsonl --turns 5 --out collected\n"
      "Exit status: 0 finished, 2 bad usage or input, 3 not finished; the same command continues.");
  command->callback([arguments, &global, exit_code] {
    RunConsole console(arguments->flags.json && isatty(STDERR_FILENO) == 0);
    const auto finished = Run(*arguments, global, &console);
    console.Done();
    *exit_code = !finished.ok() ? FailCommand("collect", finished.status(), arguments->flags.json)
                 : *finished    ? 0
                                : 3;
  });
}

}  // namespace davinci::app
