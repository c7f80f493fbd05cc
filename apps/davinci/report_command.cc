// davinci report: a finished (or unfinished) run scored again, under whichever rules, and as a
// page.

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/report/html.h"
#include "davinci/report/training_html.h"
#include "davinci/runs/run_loop.h"
#include "davinci/score/comparison.h"
#include "davinci/score/held_out.h"
#include "davinci/training/train_evaluation.h"
#include "davinci/training/training_log.h"
#include "report.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ReportArguments {
  std::string run;
  std::string against;
  std::vector<std::string> protocols;
  std::string html;
  bool json = false;
};

Result<std::vector<const score::Protocol*>> ChosenProtocols(const ReportArguments& arguments) {
  std::vector<const score::Protocol*> chosen;
  for (const std::string& name : arguments.protocols) {
    if (name == "all") {
      for (const score::Protocol& protocol : score::Protocols()) chosen.push_back(&protocol);
      continue;
    }
    DAVINCI_ASSIGN_OR_RETURN(const score::Protocol* protocol, score::ProtocolByName(name));
    chosen.push_back(protocol);
  }
  if (chosen.empty()) chosen.push_back(&score::Protocols().front());
  return chosen;
}

Result<report::RunView> ReadRun(const std::string& folder) {
  if (!store::RunStore::IsRun(folder))
    return NotFound(fmt::format("{} holds no run; see: davinci runs list", folder));
  DAVINCI_ASSIGN_OR_RETURN(runs::RunResult result, runs::ReplayRun(folder, {nullptr, nullptr}));
  return std::move(result.view);
}

// Curves of sft and train: their own page, without scores.
Status MakeTrainingReport(const ReportArguments& arguments) {
  if (!arguments.protocols.empty() || !arguments.against.empty())
    return InvalidArgument(fmt::format(
        "{} is a training run: --protocol and --against are for runs of optimize and bench",
        arguments.run));
  DAVINCI_ASSIGN_OR_RETURN(const report::TrainingView view,
                           training::ReadTrainingRun(arguments.run));
  const fs::path file =
      arguments.html.empty() ? fs::path(arguments.run) / "report.html" : fs::path(arguments.html);
  if (!arguments.json || !arguments.html.empty())
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(file, report::RenderTrainingHtml(view)));
  if (!arguments.json) {
    fmt::print("{}\n", file.string());
    return Status::Ok();
  }
  json document = {{"schema", "davinci.report/1"},
                   {"run", arguments.run},
                   {"training", {{"finished", view.finished}, {"points", json::array()}}}};
  for (const report::TrainingPoint& point : view.points)
    document["training"]["points"].push_back({{"step", point.step}, {"values", point.values}});
  fmt::print("{}\n", JsonText(document, 2));
  return Status::Ok();
}

// "RUN@STEP", RUN@last: the held-out evaluation of a checkpoint of a training run.
struct CheckpointName {
  std::string run;
  int64_t step = 0;
};

// The result is empty where `text` is no such name.
Result<std::optional<CheckpointName>> ParseCheckpoint(const std::string& text) {
  const size_t at = text.rfind('@');
  std::error_code error;
  if (at == std::string::npos || fs::exists(text, error)) return std::optional<CheckpointName>();
  CheckpointName name{text.substr(0, at), 0};
  const std::string step = text.substr(at + 1);
  const std::vector<int64_t> known = training::ListEvaluations(name.run);
  if (known.empty())
    return NotFound(
        fmt::format("{} holds no held-out evaluation; train with train.held_out and "
                    "train.eval_every",
                    name.run));
  if (step == "last") {
    name.step = known.back();
  } else {
    const auto read = std::from_chars(step.data(), step.data() + step.size(), name.step);
    if (read.ec != std::errc() || read.ptr != step.data() + step.size())
      return InvalidArgument(fmt::format("\"{}\" is no step: a number, or \"last\"", step));
  }
  return std::optional(name);
}

// The answers of one checkpoint, or of two, task by task.
Status MakeCheckpointReport(const ReportArguments& arguments, const CheckpointName& own) {
  if (!arguments.protocols.empty() || !arguments.html.empty())
    return InvalidArgument("--protocol and --html are for runs of optimize and bench");
  DAVINCI_ASSIGN_OR_RETURN(const auto log, training::ReadEvaluation(own.run, own.step));
  // By name of the checkpoint; those without are left away.
  std::map<std::string, training::LeftOut> left_out;
  std::string left_out_text;
  const auto leave_out = [&](const std::string& named, const CheckpointName& checkpoint,
                             const training::HeldOutLog& rollouts) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(auto found, training::ReadLeftOut(checkpoint.run, checkpoint.step));
    if (found.empty()) return Status::Ok();
    left_out_text +=
        Printable(named + ": " +
                  training::LeftOutText(found, training::NumTasks(rollouts) + found.size())) +
        "\n";
    left_out[named] = std::move(found);
    return Status::Ok();
  };
  DAVINCI_RETURN_IF_ERROR(leave_out(arguments.run, own, log));
  const score::ScoreReport report = training::ScoreOf(log);
  // Comparisons are sorted by split; that of all tasks is first.
  std::vector<std::pair<std::string, score::RunComparison>> comparisons;
  if (!arguments.against.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto other, ParseCheckpoint(arguments.against));
    if (!other)
      return InvalidArgument(fmt::format("{} is no checkpoint of a training: name one as RUN@STEP",
                                         arguments.against));
    DAVINCI_ASSIGN_OR_RETURN(const auto first, training::ReadEvaluation(other->run, other->step));
    DAVINCI_RETURN_IF_ERROR(leave_out(arguments.against, *other, first));
    auto splits = training::ScoreInputsOf(log);
    auto first_splits = training::ScoreInputsOf(first);
    const score::Protocol protocol = score::HeldOutProtocol();
    const auto compared = [&protocol](const score::ScoreInput& one, const score::ScoreInput& two) {
      return score::CompareRuns(one, two, protocol, score::SameCode::kOneVerdict);
    };
    comparisons.emplace_back(score::kAllSplits,
                             compared(score::AllOf(first_splits), score::AllOf(splits)));
    if (splits.size() > 1)
      for (const auto& [name, split] : splits)
        if (first_splits.contains(name))
          comparisons.emplace_back(name, compared(first_splits[name], split));
  }
  if (arguments.json) {
    json document = {{"schema", "davinci.report/1"}, {"run", arguments.run}};
    document["scores"].push_back(score::ToJson(report));
    if (!left_out.empty()) document["left_out"] = left_out;
    for (const auto& [split, comparison] : comparisons) {
      json body = score::ToJson(comparison);
      body["first"] = arguments.against;
      body["second"] = arguments.run;
      document["comparisons"][split] = std::move(body);
    }
    fmt::print("{}\n", JsonText(document, 2));
    return Status::Ok();
  }
  const bool color = UseColor(STDOUT_FILENO);
  const size_t width = TerminalWidth(STDOUT_FILENO);
  fmt::print("{}\n{}", report.definition, score::ScoreTable(report, color, width));
  for (const auto& [split, comparison] : comparisons)
    fmt::print("\n{}; first: {}, second: {}\n{}", Printable(split), Printable(arguments.against),
               Printable(arguments.run), score::ComparisonTable(comparison, color, width));
  if (!left_out_text.empty()) fmt::print("\n{}", left_out_text);
  return Status::Ok();
}

Status MakeReport(const ReportArguments& arguments) {
  DAVINCI_ASSIGN_OR_RETURN(const auto checkpoint, ParseCheckpoint(arguments.run));
  if (checkpoint) return MakeCheckpointReport(arguments, *checkpoint);
  if (training::IsTrainingRun(arguments.run)) return MakeTrainingReport(arguments);
  DAVINCI_ASSIGN_OR_RETURN(const auto protocols, ChosenProtocols(arguments));
  DAVINCI_ASSIGN_OR_RETURN(const report::RunView run, ReadRun(arguments.run));
  const score::ScoreInput input = report::ScoreInputOf(run);
  report::HtmlInput page;
  page.run = &run;
  for (const score::Protocol* protocol : protocols)
    page.scores.push_back(score::Score(input, *protocol));
  std::optional<score::RunComparison> comparison;
  if (!arguments.against.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const report::RunView other, ReadRun(arguments.against));
    // The run asked about is "second": what did it gain over the other?
    comparison = score::CompareRuns(report::ScoreInputOf(other), input, *protocols.front());
    page.comparison = &*comparison;
  }
  if (!arguments.json || !arguments.html.empty()) {
    const fs::path file =
        arguments.html.empty() ? fs::path(arguments.run) / "report.html" : fs::path(arguments.html);
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(file, report::RenderHtml(page)));
    if (!arguments.json) fmt::print("{}\n", file.string());
  }
  if (arguments.json) {
    json document = {{"schema", "davinci.report/1"}, {"run", arguments.run}};
    for (const score::ScoreReport& report : page.scores)
      document["scores"].push_back(score::ToJson(report));
    if (comparison) {
      document["comparison"] = score::ToJson(*comparison);
      document["comparison"]["first"] = arguments.against;
      document["comparison"]["second"] = arguments.run;
    }
    fmt::print("{}\n", JsonText(document, 2));
    return Status::Ok();
  }
  const bool color = UseColor(STDOUT_FILENO);
  const size_t width = TerminalWidth(STDOUT_FILENO);
  for (const score::ScoreReport& report : page.scores)
    fmt::print("\n{}\n{}", report.definition, score::ScoreTable(report, color, width));
  if (comparison)
    fmt::print("\nfirst: {}, second: {}\n{}", Printable(arguments.against),
               Printable(arguments.run), score::ComparisonTable(*comparison, color, width));
  return Status::Ok();
}

}  // namespace

void AddReportCommand(CLI::App& app, GlobalOptions&, int* exit_code) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand(
      "report",
      "Score a run again under each paper's rules, compare two runs, write the page; of sft and "
      "train: the curves");
  command
      ->add_option("RUN", arguments->run,
                   "Folder of the run; of a training, RUN@STEP is the held-out evaluation of a "
                   "checkpoint, RUN@last that of the last")
      ->required();
  command
      ->add_option("--protocol", arguments->protocols,
                   "bench (default), kernelbench, drkernel, kevin, cuda-agent, davinci, or all")
      ->delimiter(',');
  command->add_option("--against", arguments->against,
                      "Another run, or RUN@STEP: what did RUN gain over it? Paired by task, first "
                      "protocol");
  command->add_option("--html", arguments->html, "Where the page goes (default: RUN/report.html)");
  command->add_flag("--json", arguments->json,
                    "Scores as JSON; the page is written only with --html");
  command->footer(
      "Exit status: 0 written, 2 bad usage or no run, 3 davinci failed.\n"
      "  davinci report runs/rl@60 --against runs/rl@0     # two checkpoints, task by task\n"
      "docs/bench.md defines the metrics and says how the papers' rules differ.");
  command->callback([arguments, exit_code] {
    const Status status = MakeReport(*arguments);
    *exit_code = status.ok() ? 0 : FailCommand("report", status, arguments->json);
  });
}

}  // namespace davinci::app
