// davinci: one binary, one file per sub-command.

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include "commands.h"

int main(int argc, char** argv) {
  CLI::App app{
      "davinci makes GPU and CPU kernels faster with language models, and proves it.\n"
      "Start with: davinci doctor, then davinci judge --help"};
  app.set_version_flag("--version", DAVINCI_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);

  davinci::app::GlobalOptions global;
  app.add_option("--python", global.python,
                 "Python with torch >= 2.9 (default: $DAVINCI_PYTHON, then .venv, then python3)");
  int exit_code = 0;
  davinci::app::AddJudgeCommand(app, global, &exit_code);
  davinci::app::AddDoctorCommand(app, global, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return exit_code;
}
