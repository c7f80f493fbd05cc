// davinci: one binary, one file per sub-command.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include "commands.h"
#include "davinci/base/suggest.h"
#include "report.h"

namespace {

// What is wrong, and where to read on; the help itself would hide it.
std::string UsageError(const CLI::App* app, const CLI::Error& error) {
  std::string name = "davinci";
  std::string what = error.what();
  std::vector<std::string> known;
  for (const CLI::App* command = app;;) {
    for (const CLI::Option* option : command->get_options())
      for (const std::string& flag : option->get_lnames()) known.push_back("--" + flag);
    const auto used = command->get_subcommands();
    if (used.empty()) break;
    command = used.front();
    name += " " + command->get_name();
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app->remaining(true);
    const auto flag = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& text) { return text.starts_with('-'); });
    if (flag != extras.end()) {
      const std::string unknown = flag->substr(0, flag->find('='));
      what = fmt::format("unknown option {}{}", unknown, davinci::DidYouMean(unknown, known));
    }
  }
  if (name == "davinci") {
    std::vector<std::string> commands;
    for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; }))
      commands.push_back(command->get_name());
    if (const auto extras = app->remaining(); !extras.empty() && !extras[0].starts_with('-'))
      what =
          fmt::format("unknown command {}{}", extras[0], davinci::DidYouMean(extras[0], commands));
  }
  return fmt::format("{}: {}; see {} --help\n", name, what, name);
}

int Unwritten() {
  std::fputs("davinci: could not write to standard output; is its disk full?\n", stderr);
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "davinci judges GPU and CPU kernels: are they correct, and how much faster than PyTorch, "
      "with an\n"
      "interval. Start with: davinci doctor"};
  app.set_version_flag("--version", DAVINCI_VERSION);
  app.require_subcommand(1);
  app.failure_message(UsageError);

  davinci::app::GlobalOptions global;
  app.add_option("--python", global.python,
                 "Python with torch >= 2.9 (default: $DAVINCI_PYTHON, then .venv, then python3)");
  int exit_code = 0;
  davinci::app::AddOptimizeCommand(app, global, &exit_code);
  davinci::app::AddBenchCommand(app, global, &exit_code);
  davinci::app::AddJudgeCommand(app, global, &exit_code);
  davinci::app::AddTasksCommand(app, global, &exit_code);
  davinci::app::AddDoctorCommand(app, global, &exit_code);
  davinci::app::AddSkillsCommand(app, global, &exit_code);
  davinci::app::AddModelCommand(app, global, &exit_code);
  davinci::app::AddCoverageCommand(app, global, &exit_code);
  davinci::app::AddSynthCommand(app, global, &exit_code);
  davinci::app::AddRunsCommand(app, global, &exit_code);
  davinci::app::AddReportCommand(app, global, &exit_code);
  davinci::app::AddGenerateCommand(app, global, &exit_code);
  davinci::app::AddLlmCommand(app, global, &exit_code);
  davinci::app::AddCollectCommand(app, global, &exit_code);
  davinci::app::AddSftDataCommand(app, global, &exit_code);
  davinci::app::AddSftCommand(app, global, &exit_code);
  davinci::app::AddTrainCommand(app, global, &exit_code);
  davinci::app::AddCompletionCommand(app, global, &exit_code);
  // Behind the commands: one that has none of its own would inherit it.
  app.footer(
      "Examples:\n"
      "  davinci doctor                                     what works on this machine, and what "
      "mends the rest\n"
      "  davinci judge -r task.py -c kernel.py              one verdict; task.py has Model, "
      "kernel.py ModelNew\n"
      "  davinci judge -r task.py -c kernel.py --json       the same as one JSON document\n"
      "  davinci judge --batch jobs.jsonl -j 4 -o out.jsonl many; run again to go on where it "
      "stopped\n"
      "`source <(davinci completion bash)` completes commands and options; zsh and fish, too.\n"
      "`davinci COMMAND --help` has options, examples and exit statuses.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    if (code == 0) return 0;
    const auto used = app.get_subcommands();
    if (std::find(argv, argv + argc, std::string_view("--json")) != argv + argc)
      davinci::app::PrintErrorDocument(used.empty() ? "" : used.front()->get_name(),
                                       davinci::InvalidArgument(UsageError(&app, error)), 2);
    return 2;
  } catch (const std::system_error&) {  // fmt::print says that nothing can be written
    return Unwritten();
  }
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? exit_code : Unwritten();
}
