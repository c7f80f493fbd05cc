#include "davinci/runs/recipe_layers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "davinci/base/json_text.h"

namespace davinci::runs {
namespace {

namespace fs = std::filesystem;

// Settings of the expert's runs where nothing else is set: a rollout for each of its variants, no
// skills that a model would read. Only a kernel that is wrong or slow gets a second turn.
constexpr std::pair<const char*, const char*> kExpertDefaults[] = {
    {"selection.schemes", "0"}, {"rollout.rollouts", "8"}, {"rollout.turns", "3"}};

bool IsOnlyEndpoint(const config::Recipe& recipe, const char* endpoint) {
  return IsSet(recipe, "llm.endpoints") &&
         recipe.tree().values["llm"]["endpoints"] == nlohmann::json::array({endpoint});
}

// A model whose settings name a language has learned no other.
Status CheckLanguage(const config::Recipe& own, const config::Recipe& asked,
                     const std::string& model) {
  if (!IsSet(own, "task.language") || !IsSet(own, "task.target")) return Status::Ok();
  const nlohmann::json& writes = own.tree().values["task"];
  for (const char* key : {"target", "language"})
    if (IsSet(asked, fmt::format("task.{}", key)) &&
        asked.tree().values["task"][key] != writes[key])
      return InvalidArgument(fmt::format(
          "{} writes {} for the target {} alone: leave --target and --language out (where there is "
          "no GPU its kernels are compiled and interpreted, not timed), let the expert write (no "
          "--llm), or name another model with --model",
          model, JsonText(writes["language"]), JsonText(writes["target"])));
  return Status::Ok();
}

}  // namespace

bool IsSet(const config::Recipe& recipe, const std::string& key) {
  const size_t dot = key.find('.');
  const auto table = recipe.tree().values.find(key.substr(0, dot));
  return table != recipe.tree().values.end() && table->contains(key.substr(dot + 1));
}

Status AddSettingsOfModel(const std::function<Result<fs::path>()>& home,
                          const std::function<Result<std::string>(const fs::path& home)>& shipped,
                          config::Recipe* recipe) {
  if (!IsOnlyEndpoint(*recipe, kEmbedded)) return Status::Ok();
  const nlohmann::json& values = recipe->tree().values;
  DAVINCI_ASSIGN_OR_RETURN(const fs::path installed, home());
  std::string model = IsSet(*recipe, "llm.model") && values["llm"]["model"].is_string()
                          ? values["llm"]["model"].get<std::string>()
                          : "";
  if (model.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(model, shipped(installed));
  }
  const fs::path file = fs::path(model) / "davinci.toml";
  std::error_code error;
  if (!fs::exists(file, error)) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(config::Recipe own, config::Recipe::Load(file));
  DAVINCI_RETURN_IF_ERROR(CheckLanguage(own, *recipe, model));
  for (const auto& [table, name] : {std::pair{"agents", "prompts"}, {"skills", "library"}}) {
    const std::string key = fmt::format("{}.{}", table, name);
    if (!IsSet(own, key) || !own.tree().values[table][name].is_string()) continue;
    const fs::path path = own.tree().values[table][name].get<std::string>();
    const fs::path beside = fs::path(model) / path;
    const fs::path found = fs::exists(beside, error) ? beside : installed / path;
    DAVINCI_RETURN_IF_ERROR(own.Override(
        key + "=" + config::TomlLiteral(nlohmann::json(found.lexically_normal().string()))));
  }
  own.Merge(*recipe);
  *recipe = std::move(own);
  return Status::Ok();
}

Result<bool> ChooseExpert(bool by_default, config::Recipe* recipe) {
  const bool named = IsSet(*recipe, "llm.endpoints") || IsSet(*recipe, "llm.policy") ||
                     IsSet(*recipe, "llm.selection") || IsSet(*recipe, "llm.summary");
  const bool chosen = by_default && !named;
  if (chosen)
    DAVINCI_RETURN_IF_ERROR(recipe->Override(fmt::format("llm.endpoints=[\"{}\"]", kExpert)));
  if (!IsOnlyEndpoint(*recipe, kExpert)) return false;
  for (const auto& [key, value] : kExpertDefaults)
    if (!IsSet(*recipe, key))
      DAVINCI_RETURN_IF_ERROR(recipe->Override(fmt::format("{}={}", key, value)));
  return chosen;
}

}  // namespace davinci::runs
