// Shell completion: scripts made from the commands and options of the program itself.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace davinci::app {

// One option as a shell needs it.
struct CompletionOption {
  std::vector<std::string> names;  // "-t", "--target"
  std::string what;                // one line
  bool takes_value = false;
  std::vector<std::string> choices;  // of the value, where it is one of a few
};

// "davinci skills list" and what may stand behind it.
struct CompletionCommand {
  std::string path;
  std::string what;
  std::vector<CompletionOption> options;  // with those of a parent that are taken here, too
  std::vector<std::string> choices;       // of positional arguments
  std::vector<std::string> commands;      // names
  std::vector<std::string> command_descriptions;
};

// All commands of the tree, the program itself first.
std::vector<CompletionCommand> CommandsOf(const CLI::App& app, const std::string& name);

std::string BashCompletion(const std::vector<CompletionCommand>& commands);
std::string ZshCompletion(const std::vector<CompletionCommand>& commands);
std::string FishCompletion(const std::vector<CompletionCommand>& commands);

}  // namespace davinci::app
