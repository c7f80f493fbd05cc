#include "training_flags.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "report.h"

namespace davinci::app {

void AddTrainingFlags(CLI::App* command, const std::string& example_recipe,
                      const std::string& example_set, TrainingFlags* flags) {
  command
      ->add_option("recipe", flags->recipes,
                   fmt::format("TOML file, or several: each is merged over those before it; see {}",
                               example_recipe))
      ->required();
  command->add_option("-o,--out", flags->out,
                      "The run's folder: records, logs, checkpoints. The same command on the same "
                      "folder continues after the newest checkpoint");
  command->add_option("--set", flags->sets,
                      fmt::format("One setting of the recipe: --set {}", example_set));
  command->add_flag("--dry-run", flags->dry_run,
                    "Print the resolved recipe, step shapes, memory and time; train nothing");
}

Result<config::Recipe> LoadRecipe(const TrainingFlags& flags) {
  config::Recipe recipe;
  for (const std::string& file : flags.recipes) {
    DAVINCI_ASSIGN_OR_RETURN(const config::Recipe next, config::Recipe::Load(file));
    recipe.Merge(next);
  }
  for (const std::string& set : flags.sets) DAVINCI_RETURN_IF_ERROR(recipe.Override(set));
  return recipe;
}

void SayLine(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void OnCommand(CLI::App* command, const std::string& name, int* exit_code,
               std::function<Status()> work) {
  command->callback([name, exit_code, work = std::move(work)] {
    const Status status = work();
    *exit_code = status.ok() ? 0 : FailCommand(name, status);
  });
}

}  // namespace davinci::app
