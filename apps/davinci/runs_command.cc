// davinci runs: what has been run, and what came of it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/suggest.h"
#include "davinci/base/table.h"
#include "davinci/data/shown_interval.h"
#include "davinci/runs/run_loop.h"
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
  std::string turn;
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

json TaskIds(const runs::RunHeader& header) {
  json ids = json::array();
  for (const task::TaskEntry& task : header.tasks) ids.push_back(task.id);
  return ids;
}

std::string TasksText(const json& ids) {
  if (ids.empty()) return "";
  std::string text = Printable(ids[0].get<std::string>());
  if (ids.size() > 1) text += fmt::format(" and {} more", ids.size() - 1);
  return text;
}

// RUN/results/result.json as the last process wrote it; null where there is none.
json ResultOf(const fs::path& folder) {
  const auto text = ReadFile(folder / "results" / "result.json");
  json result = text.ok() ? json::parse(*text, nullptr, false) : json();
  return result.is_object() && result.contains("tasks") && result["tasks"].is_array() ? result
                                                                                      : json();
}

// "3.05x over eager", of several tasks the best and how many have one.
std::string BestOf(const fs::path& folder) {
  const json result = ResultOf(folder);
  if (result.is_null()) return "";
  std::optional<Speedup> best;
  size_t winners = 0;
  for (const json& task : result["tasks"]) {
    if (!task.contains("winner") || !task["winner"].is_object()) continue;
    ++winners;
    const json& certified = task["winner"]["certified"];
    if (!certified.contains("speedup") || !certified["speedup"].is_object()) continue;
    const Speedup speedup = SpeedupFromJson(certified["speedup"]);
    if (!best || SureSpeedup(speedup) > SureSpeedup(*best)) best = speedup;
  }
  std::string text = best ? fmt::format("{} over {}", FigureText(*best), best->baseline) : "";
  if (result["tasks"].size() > 1 && winners > 0)
    text += fmt::format(" ({} of {} tasks)", winners, result["tasks"].size());
  return text;
}

// How the last process ended, and of a run of one task what certification said.
std::string StateOf(const fs::path& folder, const runs::RunStages& stages) {
  std::string state = stages.sessions.empty() ? "not finished" : stages.sessions.back().ended;
  const json result = ResultOf(folder);
  if (result.is_null()) return state;
  std::map<std::string, int> counts;
  for (const json& task : result["tasks"])
    if (task.value("state", "") == "not_decided") ++counts["not decided"];
  for (const auto& [name, count] : counts)
    state += result["tasks"].size() == 1 ? ", " + name : fmt::format(", {} {}", count, name);
  return state;
}

// What was paid so far, from the journal.
llm::Spending CostOf(store::RunStore& run) {
  llm::Spending sum;
  if (const auto totals = runs::TotalsOf(run); totals.ok())
    for (const auto& [model, spent] : totals->spending) sum += spent;
  return sum;
}

int List(const RunsArguments& arguments) {
  std::error_code error;
  if (!fs::is_directory(arguments.folder, error))
    return Fail(arguments,
                NotFound(fmt::format("{} is not a folder; name one with --in", arguments.folder)));
  Table table({{"run"},
               {"command"},
               {"task"},
               {"best"},
               {"cost"},
               {"rollouts", Align::kRight},
               {"last"},
               {"state"}});
  json list = json::array();
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(arguments.folder, error))
    if (store::RunStore::IsRun(entry.path())) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    llm::Spending spent;
    const auto row = [&]() -> Result<json> {
      DAVINCI_ASSIGN_OR_RETURN(auto run, store::RunStore::OpenForReading(folder));
      spent = CostOf(*run);
      DAVINCI_ASSIGN_OR_RETURN(const auto header, runs::HeaderFrom(*run));
      DAVINCI_ASSIGN_OR_RETURN(const auto stages, runs::MeasureStages(*run));
      int64_t units = 0;
      for (const auto& [kind, times] : stages.stages) units += times.count;
      return json{{"run", folder.string()},
                  {"command", header.command},
                  {"tasks", header.tasks.size()},
                  {"task_ids", TaskIds(header)},
                  {"best", BestOf(folder)},
                  {"cost", llm::ToJson(spent)},
                  {"rollouts", stages.rollouts},
                  {"units", units},
                  {"last_unix_s", std::max(stages.last_unix_s, header.created_unix_s)},
                  {"state", StateOf(folder, stages)}};
    }();
    if (!row.ok()) {
      table.AddRow({folder.filename().string(), "", "", "", "", "", "", row.status().message()});
      continue;
    }
    list.push_back(*row);
    table.AddRow({folder.filename().string(), (*row)["command"].get<std::string>(),
                  TasksText((*row)["task_ids"]), (*row)["best"].get<std::string>(),
                  spent.num_calls > 0 ? llm::CostText(spent) : "", JsonText((*row)["rollouts"]),
                  When((*row)["last_unix_s"].get<double>()), (*row)["state"].get<std::string>()});
  }
  if (arguments.json) {
    fmt::print("{}\n", JsonText(list, 2));
    return 0;
  }
  Table::Options options;
  options.color = UseColor(STDOUT_FILENO);
  options.max_width = TerminalWidth(STDOUT_FILENO, 0);
  fmt::print("{}", table.Render(options));
  return 0;
}

// One turn as text: what was asked, what came back, what the judge said.
std::string RenderTurn(const report::TaskView& task, const Turn& turn, store::RunStore& run) {
  const auto confirmed = task.confirmed.find(turn.code_hash);
  const Evaluation& verdict =
      confirmed != task.confirmed.end() ? confirmed->second : turn.evaluation;
  std::string text = fmt::format("{}: {}", ToString(turn.id), OutcomeName(verdict.outcome));
  if (verdict.speedup) text += ", " + SpeedupText(*verdict.speedup);
  if (confirmed != task.confirmed.end()) text += ", full protocol";
  text += '\n';
  if (!verdict.labels.empty()) text += fmt::format("labels: {}\n", fmt::join(verdict.labels, "; "));
  if (!verdict.message.empty()) text += fmt::format("judge: {}\n", verdict.message);
  text += fmt::format("model {}, {} + {} tokens, {}; judged in {:.1f} s\n",
                      turn.model.empty() ? "unknown" : turn.model, turn.cost.prompt_tokens,
                      turn.cost.completion_tokens, MoneyText(turn.cost), turn.judge_seconds);
  const auto part = [&](std::string_view title, const std::string& body) {
    if (!body.empty()) text += fmt::format("\n--- {} ---\n{}\n", title, body);
  };
  if (const auto prompt = run.GetBlob(turn.prompt_hash); !turn.prompt_hash.empty() && prompt.ok()) {
    const json request = json::parse(*prompt, nullptr, false);
    if (request.is_object() && request.contains("messages") && request["messages"].is_array()) {
      for (const json& message : request["messages"])
        if (message.is_object() && message.contains("content") && message["content"].is_string())
          part("prompt: " + message.value("role", ""), message["content"].get<std::string>());
    } else {
      part("prompt", *prompt);
    }
  }
  part("reasoning", turn.reasoning);
  part("reply", turn.reply);
  if (const auto code = run.GetBlob(turn.code_hash); !turn.code_hash.empty() && code.ok())
    part("kernel", *code);
  return text;
}

// `wanted`: a turn's whole name, what stands in it behind the task ("s0r1t2"), or the number that a
// turn has in every rollout.
int ShowTurns(const RunsArguments& arguments, const runs::RunResult& result, const fs::path& path) {
  auto run = store::RunStore::OpenForReading(path);
  if (!run.ok()) return Fail(arguments, run.status());
  std::vector<std::string> names;
  std::string text;
  for (const report::TaskView& task : result.view.tasks)
    for (const Trajectory& trajectory : task.trajectories)
      for (const Turn& turn : trajectory.turns) {
        const std::string name = ToString(turn.id);
        names.push_back(name);
        if (arguments.turn != name && !name.ends_with("#" + arguments.turn) &&
            arguments.turn != std::to_string(turn.id.turn))
          continue;
        text += (text.empty() ? "" : "\n") + RenderTurn(task, turn, **run);
      }
  if (text.empty())
    return Fail(arguments,
                NotFound(fmt::format("no turn \"{}\"{}; there are {}", arguments.turn,
                                     DidYouMean(arguments.turn, names), fmt::join(names, ", "))));
  // A model's text may hold anything but must not move the cursor; lines stay lines.
  std::string safe;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    safe += Printable(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  fmt::print("{}", safe);
  return 0;
}

int ShowRun(const RunsArguments& arguments) {
  const auto path = Locate(arguments, arguments.run);
  if (!path.ok()) return Fail(arguments, path.status());
  if (arguments.stages) {
    auto run = store::RunStore::OpenForReading(*path);
    if (!run.ok()) return Fail(arguments, run.status());
    const auto stages = runs::MeasureStages(**run);
    if (!stages.ok()) return Fail(arguments, stages.status());
    if (arguments.json)
      fmt::print("{}\n", JsonText(runs::ToJson(*stages), 2));
    else
      fmt::print("{}", RenderStages(*stages, UseColor(STDOUT_FILENO)));
    return 0;
  }
  const auto result = runs::ReplayRun(*path, {nullptr, nullptr});
  if (!result.ok()) return Fail(arguments, result.status());
  if (arguments.json) {
    fmt::print("{}\n", JsonText(runs::ToJson(*result), 2));
    return 0;
  }
  if (!arguments.turn.empty()) return ShowTurns(arguments, *result, *path);
  fmt::print("{}", RenderResult(*result, UseColor(STDOUT_FILENO)));
  for (const report::TaskView& task : result->view.tasks)
    if (task.winner) fmt::print("\n{}", task.winner->explanation);
  return 0;
}

int CompareRuns(const RunsArguments& arguments) {
  const auto protocol = score::ProtocolByName(arguments.protocol);
  if (!protocol.ok()) return Fail(arguments, protocol.status());
  std::vector<runs::RunResult> results;
  for (const std::string& name : {arguments.run, arguments.other}) {
    const auto path = Locate(arguments, name);
    if (!path.ok()) return Fail(arguments, path.status());
    auto result = runs::ReplayRun(*path, {nullptr, nullptr});
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
  show->add_option("--turn", arguments->turn,
                   "One turn as text (prompt, reply, kernel, verdict): its name, \"s0r1t2\", or "
                   "the number of a turn in each rollout");
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
