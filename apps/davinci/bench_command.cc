// davinci bench: how good a model is at a set of tasks, with intervals.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/plural.h"
#include "davinci/base/table.h"
#include "davinci/data/shown_interval.h"
#include "davinci/runs/bench_results.h"
#include "davinci/runs/generations.h"
#include "davinci/score/protocol.h"
#include "davinci/task/shrink.h"
#include "davinci/task/task_set.h"
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
  std::string generations;
  std::string csv;
  double task_minutes = -1;
  double shrink_mb = 0;  // 0: sizes as the tasks have them
  std::string skills;    // greedy, bm25, random, none; "" = as the recipe says
};

// One way of using skills as settings. "greedy" is the published validation: one greedy selection,
// no null scheme.
std::vector<std::string> SkillSettings(const std::string& skills) {
  if (skills.empty()) return {};
  if (skills == "none") return {"selection.schemes=0", "selection.null_scheme=true"};
  std::vector<std::string> settings = {"selection.schemes=1", "selection.null_scheme=false"};
  settings.push_back(fmt::format("selection.method=\"{}\"", skills == "greedy" ? "agent" : skills));
  if (skills == "greedy") settings.emplace_back("selection.temperature=0.0");
  return settings;
}

// Kernels that exist in the place of a model: one turn each, tasks without any left out.
Status UseGenerations(const BenchArguments& arguments, RunFlags* flags, runs::RunRequest* request) {
  if (!flags->llm.empty() || !flags->model.empty() || !arguments.skills.empty())
    return InvalidArgument("--generations asks no model: leave out --llm, --model and --skills");
  std::vector<task::TaskEntry>& tasks = request->header.tasks;
  DAVINCI_ASSIGN_OR_RETURN(runs::Generations generations,
                           runs::ReadGenerations(arguments.generations, tasks));
  if (!generations.unmatched.empty())
    fmt::print(stderr, "davinci bench: {} files fit no task, {} the first of them\n",
               generations.unmatched.size(), Printable(generations.unmatched[0]));
  const size_t all = tasks.size();
  std::erase_if(
      tasks, [&](const task::TaskEntry& task) { return !generations.samples.contains(task.id); });
  if (tasks.size() < all)
    fmt::print(stderr, "davinci bench: {} of {} tasks have no generation and are left out\n",
               all - tasks.size(), all);
  for (auto& [task, samples] : generations.samples) {
    if (arguments.samples > 0 && samples.size() > static_cast<size_t>(arguments.samples))
      samples.resize(static_cast<size_t>(arguments.samples));
    request->rollouts[task] = static_cast<int>(samples.size());
  }
  flags->turns = 1;
  flags->schemes = 0;
  flags->backbone_identity = "generations:" + generations.digest;
  flags->backbone = runs::GenerationsBackbone(std::move(generations));
  return Status::Ok();
}

// Tasks whose inputs are too large for this machine get smaller sizes, and say so.
Status Shrink(double most_mb, std::vector<task::TaskEntry>* tasks) {
  constexpr double kBytesPerElement = 4;
  const auto most = static_cast<int64_t>(most_mb * (1 << 20) / kBytesPerElement);
  for (task::TaskEntry& task : *tasks) {
    DAVINCI_ASSIGN_OR_RETURN(const auto sizes, task::ShrinkForCpu(&task, most));
    if (sizes.empty()) continue;
    const std::string text = task::ShrunkText(sizes);
    const size_t table = task.sidecar.rfind("[sizes.cpu]");
    task.sidecar.insert(table, fmt::format("{}{}\n", runs::kScaledComment, text));
    fmt::print(stderr, "davinci bench: {}: scaled down: {}\n", Printable(task.id), Printable(text));
  }
  return Status::Ok();
}

Result<runs::RunResult> Run(const BenchArguments& arguments, const GlobalOptions& global,
                            RunConsole* console) {
  if (!arguments.flags.replay.empty())
    return runs::ReplayRun(arguments.flags.replay, {nullptr, nullptr});
  if (arguments.tasks.empty())
    return InvalidArgument("no tasks; name a folder or a JSONL file with --tasks");
  // A benchmark measures the model alone unless skills are asked for, and every turn counts.
  RunFlags flags = arguments.flags;
  // Samples are independent: no rule ends one early, and nothing one finds ends another.
  flags.defaults = {"selection.schemes=0", "judge.turn_protocol=\"davinci\"",
                    "stop.roofline_share=0", "stop.stagnant_turns=0", "stop.shared=false"};
  for (const std::string& set : SkillSettings(arguments.skills)) flags.sets.push_back(set);
  if (arguments.samples > 0) flags.rollouts = arguments.samples;
  if (arguments.task_minutes >= 0)
    flags.sets.push_back(fmt::format("budget.task_minutes={}", arguments.task_minutes));
  runs::RunRequest request;
  runs::RunHeader& header = request.header;
  DAVINCI_ASSIGN_OR_RETURN(header.tasks,
                           task::LoadTaskSet(arguments.tasks, {arguments.levels, arguments.ids}));
  if (!arguments.generations.empty()) {
    DAVINCI_RETURN_IF_ERROR(UseGenerations(arguments, &flags, &request));
  }
  DAVINCI_ASSIGN_OR_RETURN(ResolvedRecipe resolved, ResolveRecipe(flags));
  if (arguments.shrink_mb > 0) {
    if (resolved.recipe.step.target != Target::kCpu)
      return InvalidArgument("--shrink is for --target cpu");
    DAVINCI_RETURN_IF_ERROR(Shrink(arguments.shrink_mb, &header.tasks));
  }
  console->Expect(header.tasks.size());
  DAVINCI_RETURN_IF_ERROR(runs::KeepSources(&header.tasks));
  header.command = "bench";
  header.title = "davinci bench " + arguments.tasks;
  if (!arguments.generations.empty()) header.title += " --generations " + arguments.generations;
  request.winners = false;
  return ExecuteIn(flags, resolved, global, std::move(request), console->Events());
}

// A line per task: what its samples came to and what they cost.
std::string RenderTasks(const std::vector<runs::BenchTask>& tasks, bool color) {
  Table table({{"task"},
               {"samples", Align::kRight},
               {"correct", Align::kRight},
               {LabelText(Label::kOnlyPyTorch), Align::kRight},
               {"best speedup", Align::kRight},
               {"99.9 % interval"},
               {"cost"}});
  for (const runs::BenchTask& task : tasks) {
    const runs::BenchSample* best = task.best();
    const std::optional<Speedup> speedup =
        best != nullptr ? best->verdict.value().speedup : std::nullopt;
    table.AddRow({task.task, std::to_string(task.samples.size()), std::to_string(task.num_correct),
                  task.num_only_pytorch > 0
                      ? Table::Cell(std::to_string(task.num_only_pytorch), TextStyle::kWarn)
                      : Table::Cell("0"),
                  speedup ? FigureText(*speedup) : "", speedup ? BoundsText(Shown(*speedup)) : "",
                  task.cost.calls > 0 ? MoneyText(task.cost) : ""});
  }
  Table::Options options;
  options.color = color;
  options.max_width = TerminalWidth(STDOUT_FILENO);
  std::string text = table.Render(options);
  int only_pytorch = 0;
  for (const runs::BenchTask& task : tasks) {
    only_pytorch += task.num_only_pytorch;
    if (!task.scaled.empty())
      text += fmt::format("scaled down: {}: {}\n", Printable(task.task), Printable(task.scaled));
  }
  if (only_pytorch > 0)
    text += fmt::format("only PyTorch: {} without a kernel of its own\n",
                        Counted(only_pytorch, "correct sample"));
  return text;
}

int RunBench(const BenchArguments& arguments, const GlobalOptions& global) {
  const auto protocol = score::ProtocolByName(arguments.protocol);
  if (!protocol.ok()) return FailCommand("bench", protocol.status(), arguments.flags.json);
  RunConsole console(/*quiet=*/false);
  auto result = Run(arguments, global, &console);
  console.Done();
  if (!result.ok()) return FailCommand("bench", result.status(), arguments.flags.json);
  const score::ScoreReport report = score::Score(report::ScoreInputOf(result->view), **protocol);
  const std::vector<runs::BenchTask> tasks = runs::BenchTasksOf(result->view);
  if (!arguments.csv.empty())
    if (const Status written = WriteFileAtomic(arguments.csv, runs::SamplesCsv(tasks));
        !written.ok())
      return FailCommand("bench", written, arguments.flags.json);
  if (arguments.flags.json) {
    nlohmann::json document = score::ToJson(report);
    document["tasks"] = runs::ToJson(tasks);
    document["run"] = runs::ToJson(*result);
    fmt::print("{}\n", JsonText(document, 2));
  } else {
    const bool color = UseColor(STDOUT_FILENO);
    fmt::print("{}", RenderTasks(tasks, color));
    fmt::print("\n{}", score::ScoreTable(report, color, TerminalWidth(STDOUT_FILENO)));
    fmt::print("{}", RenderStages(result->stages, color));
    for (const std::string& notice : result->notices) fmt::print("note: {}\n", Printable(notice));
    fmt::print("{}, {} prompt + {} reply tokens, {}\n", Counted(result->cost.calls, "model call"),
               result->cost.prompt_tokens, result->cost.completion_tokens, MoneyText(result->cost));
    fmt::print(
        "{}{}run: {}; a line per sample: {}\n", LostText(*result), RemarksText(result->view),
        result->view.folder,
        arguments.csv.empty() ? result->view.folder + "/results/samples.csv" : arguments.csv);
  }
  const Status trouble = arguments.flags.json ? result->trouble : UntoldTrouble(*result);
  if (!trouble.ok()) fmt::print(stderr, "davinci bench: {}\n", trouble.ToString());
  return result->finished() && result->trouble.ok() ? 0 : 3;
}

}  // namespace

void AddBenchCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand(
      "bench", "Score a language model on a set of tasks: fast_p, pass@k, speedups, intervals");
  command->add_option("--tasks", arguments->tasks, "Folder (KernelBench layout) or JSONL");
  command->add_option("--levels", arguments->levels, "Only these levels")->delimiter(',');
  command
      ->add_option("--only", arguments->ids,
                   "Only these tasks: ids, their last parts, or patterns with * ? [ ]")
      ->delimiter(',');
  AddRunFlags(command, &arguments->flags);
  arguments->flags.expert_by_default = true;
  command
      ->add_option("--task-minutes", arguments->task_minutes,
                   "Model calls and judgements of one task; then its samples get no further turn "
                   "(default: no limit)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--shrink", arguments->shrink_mb,
                   "For a machine that is too small for the tasks: halve their sizes (module-level "
                   "integers) until the inputs take at most so many MB; the result says which "
                   "(only --target cpu; without a number 16)")
      ->expected(0, 1)
      ->default_str("16")
      ->check(CLI::PositiveNumber);
  command->add_option("--csv", arguments->csv,
                      "File for a line per sample (default: RUN/results/samples.csv)");
  command
      ->add_option(
          "--samples,-n", arguments->samples,
          fmt::format("Samples (rollouts) per task (default: {})", runs::RunRecipe().step.rollouts))
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--skills", arguments->skills,
                   "Skills in every prompt: greedy (one greedy Selection call per task, as "
                   "published), bm25 (the best matches), random, none (default)")
      ->check(CLI::IsMember({"greedy", "bm25", "random", "none"}));
  command->add_option("--generations", arguments->generations,
                      "Score the kernels in this folder instead of a model's: KernelBench's "
                      "runs/NAME, or ID.py and ID/NAME.py per task");
  command
      ->add_option("--protocol", arguments->protocol,
                   "Scoring rules; `davinci report RUN --protocol …` rescores later")
      ->capture_default_str();
  command->footer(
      "Exit status: 0 finished, 2 bad usage or input, 3 not finished; the same command continues.\n"
      "Examples:\n"
      "  davinci bench --tasks KernelBench/ --levels 1,2 --samples 4 --llm URL --model NAME\n"
      "  davinci bench --tasks KernelBench/ --generations KernelBench/runs/my_run\n"
      "  davinci bench --tasks tasks --turns 3 --llm URL --model NAME --json > score.json\n"
      "docs/bench.md defines the metrics.");
  command->callback([arguments, &global, exit_code] { *exit_code = RunBench(*arguments, global); });
}

}  // namespace davinci::app
