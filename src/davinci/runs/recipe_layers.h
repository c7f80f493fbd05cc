// Layers of a recipe that lie below what the user sets: what the model in this process says about
// how it wants to be asked, and the settings of the expert where no model is named.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "davinci/base/status.h"
#include "davinci/config/recipe.h"

namespace davinci::runs {

inline constexpr char kExpert[] = "expert";      // --llm expert: rules, no model
inline constexpr char kEmbedded[] = "embedded";  // --llm embedded: a model in this process

// Is dotted `key` ("llm.model") in the recipe?
bool IsSet(const config::Recipe& recipe, const std::string& key);

// With kEmbedded as the endpoint: puts davinci.toml of the model's folder below everything that is
// set. Prompts and skills that it names lie in its folder or below `home()`, the installation.
// `shipped`: the folder of the model that comes with it. InvalidArgument where they name target and
// language, and another one is asked for.
Status AddSettingsOfModel(
    const std::function<Result<std::filesystem::path>()>& home,
    const std::function<Result<std::string>(const std::filesystem::path& home)>& shipped,
    config::Recipe* recipe);

// Without a model the expert writes the kernels, where `by_default`; true: that is so. The settings
// of the expert's runs are filled in, also where the recipe names it.
Result<bool> ChooseExpert(bool by_default, config::Recipe* recipe);

}  // namespace davinci::runs
