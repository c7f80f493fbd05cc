// What the commands of training have in common: flags, and how a command ends.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/config/recipe.h"

namespace davinci::app {

struct TrainingFlags {
  std::vector<std::string> recipes;
  std::vector<std::string> sets;  // "a.b=c"
  std::string out;
  bool dry_run = false;
};
// `example_recipe` lists the keys; `example_set` is one of them.
void AddTrainingFlags(CLI::App* command, const std::string& example_recipe,
                      const std::string& example_set, TrainingFlags* flags);

// The recipes' files, each merged over those before it, and --set over all.
Result<config::Recipe> LoadRecipe(const TrainingFlags& flags);

// A line for people, seen at once.
void SayLine(const std::string& line);

// The command does `work`; what fails is said on stderr under `name` (FailCommand).
void OnCommand(CLI::App* command, const std::string& name, int* exit_code,
               std::function<Status()> work);

}  // namespace davinci::app
