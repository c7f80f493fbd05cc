// davinci: one binary, one file per sub-command.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "commands.h"

int main(int argc, char** argv) {
  CLI::App app{
      "davinci judges GPU and CPU kernels: are they correct, and how much faster than PyTorch, "
      "with an\n"
      "interval. Start with: davinci doctor"};
  app.footer(
      "Examples:\n"
      "  davinci doctor                                     what works on this machine, and what "
      "mends the rest\n"
      "  davinci judge -r task.py -c kernel.py              one verdict; task.py has Model, "
      "kernel.py ModelNew\n"
      "  davinci judge -r task.py -c kernel.py --json       the same as one JSON document\n"
      "  davinci judge --batch jobs.jsonl -j 4 -o out.jsonl many; run again to go on where it "
      "stopped\n"
      "`davinci COMMAND --help` has options, examples and exit statuses.");
  app.set_version_flag("--version", DAVINCI_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);

  davinci::app::GlobalOptions global;
  app.add_option("--python", global.python,
                 "Python with torch >= 2.9 (default: $DAVINCI_PYTHON, then .venv, then python3)");
  int exit_code = 0;
  davinci::app::AddOptimizeCommand(app, global, &exit_code);
  davinci::app::AddBenchCommand(app, global, &exit_code);
  davinci::app::AddJudgeCommand(app, global, &exit_code);
  davinci::app::AddDoctorCommand(app, global, &exit_code);
  davinci::app::AddSkillsCommand(app, global, &exit_code);
  davinci::app::AddRunsCommand(app, global, &exit_code);
  davinci::app::AddReportCommand(app, global, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return exit_code;
}
