// The user's own configuration: endpoint, keys and prices that every command starts from.
//
//   [llm]                       # any key of a recipe's [llm], roles included
//   endpoints = ["https://api.example.com/v1"]
//   model = "some-model"
//   [models."some-model"]       # prices (llm/prices.h)
//   input_usd_per_million = 0.15
//   output_usd_per_million = 0.60
//
// Recipes and flags win. Relative paths in it are relative to its folder.
#pragma once

#include <filesystem>

#include "davinci/base/status.h"
#include "davinci/config/recipe.h"

namespace davinci::runs {

struct UserConfig {
  std::filesystem::path file;  // empty: no home to look in
  bool exists = false;
  config::Recipe recipe;  // [llm] alone; llm.prices names `file` where it has prices
};

// $DAVINCI_CONFIG, else davinci/config.toml in $XDG_CONFIG_HOME or ~/.config. A file that is not
// there is an empty configuration, unless DAVINCI_CONFIG names it. Unknown keys are errors.
Result<UserConfig> LoadUserConfig();

// `recipe` over the configuration. Where both name endpoints, the model, key, headers and further
// members of the configuration stay with its own endpoints.
config::Recipe OverUserConfig(const config::Recipe& recipe, const UserConfig& user);

}  // namespace davinci::runs
