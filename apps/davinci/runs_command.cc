// davinci runs: what has been run, and what came of it.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/orchestrator/run_loop.h"
#include "davinci/score/comparison.h"
#include "report.h"
#include "run_console.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct RunsArguments {
  std::string folder = "davinci-runs";
  std::string run;
  std::string other;
  std::string protocol = "bench";
  bool stages = false;
  bool json = false;
};

int Fail(const RunsArguments& arguments, const Status& status) {
  return FailCommand("runs", status, arguments.json);
}

// A path, or the name of a run below `folder`.
Result<fs::path> Locate(const RunsArguments& arguments, const std::string& run) {
  for (const fs::path& path : {fs::path(run), fs::path(arguments.folder) / run})
    if (store::RunStore::IsRun(path)) return path;
  return NotFound(fmt::format("{} holds no run, nor does {}/{}; see: davinci runs list", run,
                              arguments.folder, run));
}

std::string When(double unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

int List(const RunsArguments& arguments) {
  std::error_code error;
  if (!fs::is_directory(arguments.folder, error))
    return Fail(arguments,
                NotFound(fmt::format("{} is not a folder; name one with --in", arguments.folder)));
  Table table({{"run"},
               {"command"},
               {"tasks", Align::kRight},
               {"rollouts", Align::kRight},
               {"records", Align::kRight},
               {"last"},
               {"state"}});
  json list = json::array();
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(arguments.folder, error))
    if (store::RunStore::IsRun(entry.path())) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    const auto row = [&]() -> Result<json> {
      DAVINCI_ASSIGN_OR_RETURN(auto run, store::RunStore::OpenForReading(folder));
      DAVINCI_ASSIGN_OR_RETURN(const auto header, orchestrator::HeaderFrom(*run));
      DAVINCI_ASSIGN_OR_RETURN(const auto stages, orchestrator::MeasureStages(*run));
      int64_t units = 0;
      for (const auto& [kind, times] : stages.stages) units += times.count;
      return json{
          {"run", folder.string()},
          {"command", header.command},
          {"tasks", header.tasks.size()},
          {"rollouts", stages.rollouts},
          {"units", units},
          {"last_unix_s", std::max(stages.last_unix_s, header.created_unix_s)},
          {"state", stages.sessions.empty() ? "not finished" : stages.sessions.back().ended}};
    }();
    if (!row.ok()) {
      table.AddRow({folder.filename().string(), "", "", "", "", "", row.status().message()});
      continue;
    }
    list.push_back(*row);
    table.AddRow({folder.filename().string(), (*row)["command"].get<std::string>(),
                  JsonText((*row)["tasks"]), JsonText((*row)["rollouts"]),
                  JsonText((*row)["units"]), When((*row)["last_unix_s"].get<double>()),
                  (*row)["state"].get<std::string>()});
  }
  if (arguments.json) {
    fmt::print("{}\n", JsonText(list, 2));
    return 0;
  }
  Table::Options options;
  options.color = UseColor(STDOUT_FILENO);
  fmt::print("{}", table.Render(options));
  return 0;
}

int ShowRun(const RunsArguments& arguments) {
  const auto path = Locate(arguments, arguments.run);
  if (!path.ok()) return Fail(arguments, path.status());
  if (arguments.stages) {
    auto run = store::RunStore::OpenForReading(*path);
    if (!run.ok()) return Fail(arguments, run.status());
    const auto stages = orchestrator::MeasureStages(**run);
    if (!stages.ok()) return Fail(arguments, stages.status());
    if (arguments.json)
      fmt::print("{}\n", JsonText(orchestrator::ToJson(*stages), 2));
    else
      fmt::print("{}", RenderStages(*stages, UseColor(STDOUT_FILENO)));
    return 0;
  }
  const auto result = orchestrator::ReplayRun(*path, {nullptr, nullptr});
  if (!result.ok()) return Fail(arguments, result.status());
  if (arguments.json) {
    fmt::print("{}\n", JsonText(orchestrator::ToJson(*result), 2));
    return 0;
  }
  fmt::print("{}", RenderResult(*result, UseColor(STDOUT_FILENO)));
  for (const report::TaskView& task : result->view.tasks)
    if (task.winner) fmt::print("\n{}", task.winner->explanation);
  return 0;
}

int CompareRuns(const RunsArguments& arguments) {
  const auto protocol = score::ProtocolByName(arguments.protocol);
  if (!protocol.ok()) return Fail(arguments, protocol.status());
  std::vector<orchestrator::RunResult> results;
  for (const std::string& name : {arguments.run, arguments.other}) {
    const auto path = Locate(arguments, name);
    if (!path.ok()) return Fail(arguments, path.status());
    auto result = orchestrator::ReplayRun(*path, {nullptr, nullptr});
    if (!result.ok()) return Fail(arguments, result.status());
    results.push_back(std::move(result).value());
  }
  const score::RunComparison comparison = score::CompareRuns(
      report::ScoreInputOf(results[0].view), report::ScoreInputOf(results[1].view), **protocol);
  if (arguments.json)
    fmt::print("{}\n", JsonText(score::ToJson(comparison), 2));
  else
    fmt::print("{}", score::ComparisonTable(comparison, UseColor(STDOUT_FILENO),
                                            TerminalWidth(STDOUT_FILENO)));
  return 0;
}

int DeleteRun(const RunsArguments& arguments) {
  const auto path = Locate(arguments, arguments.run);
  if (!path.ok()) return Fail(arguments, path.status());
  {
    // Refused while another process has the run (its lock).
    const auto run = store::RunStore::Open(*path);
    if (!run.ok() && run.status().code() == StatusCode::kUnavailable)
      return Fail(arguments, run.status());
  }
  if (const Status removed = RemoveAll(*path); !removed.ok()) return Fail(arguments, removed);
  fmt::print("deleted {}\n", path->string());
  return 0;
}

}  // namespace

void AddRunsCommand(CLI::App& app, GlobalOptions&, int* exit_code) {
  auto arguments = std::make_shared<RunsArguments>();
  CLI::App* command = app.add_subcommand("runs", "List, show, compare and delete runs");
  command->require_subcommand(1);
  command->footer(
      "Exit status: 0 done, 2 bad usage or no run, 3 davinci failed.\n"
      "Examples:\n"
      "  davinci runs list\n"
      "  davinci runs show NAME --stages\n"
      "  davinci runs compare NAME OTHER\n"
      "docs/optimize.md explains what a run holds.");
  CLI::App* list = command->add_subcommand("list", "All runs of the folder");
  list->add_flag("--json", arguments->json, "As JSON");
  list->callback([arguments, exit_code] { *exit_code = List(*arguments); });
  CLI::App* show = command->add_subcommand("show", "What came of a run, from its journal alone");
  show->add_option("RUN", arguments->run, "Folder, or name in the runs' folder")->required();
  show->add_flag("--stages", arguments->stages,
                 "Where the time went: stages, idle shares, journal overhead, throughput");
  show->add_flag("--json", arguments->json, "As JSON");
  show->callback([arguments, exit_code] { *exit_code = ShowRun(*arguments); });
  CLI::App* compare = command->add_subcommand("compare", "Are two runs different? Paired by task");
  compare->add_option("RUN", arguments->run, "The first")->required();
  compare->add_option("OTHER", arguments->other, "The second")->required();
  compare->add_option("--protocol", arguments->protocol, "Scoring rules")->capture_default_str();
  compare->add_flag("--json", arguments->json, "As JSON");
  compare->callback([arguments, exit_code] { *exit_code = CompareRuns(*arguments); });
  CLI::App* erase = command->add_subcommand("delete", "Delete a run and all that is in it");
  erase->add_option("RUN", arguments->run, "Folder, or name in the runs' folder")->required();
  for (CLI::App* sub : {list, show, compare, erase})
    sub->add_option("--in", arguments->folder, "Folder with the runs")->capture_default_str();
  erase->callback([arguments, exit_code] { *exit_code = DeleteRun(*arguments); });
}

}  // namespace davinci::app
