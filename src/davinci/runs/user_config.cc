#include "davinci/runs/user_config.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "davinci/llm/prices.h"
#include "davinci/runs/run_recipe.h"

namespace davinci::runs {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const json* LlmTable(const config::Recipe& recipe) {
  const json& values = recipe.tree().values;
  const auto found = values.find("llm");
  return found != values.end() && found->is_object() ? &*found : nullptr;
}

bool NamesEndpoints(const config::Recipe& recipe) {
  const json* llm = LlmTable(recipe);
  return llm != nullptr && llm->contains("endpoints") && !(*llm)["endpoints"].empty();
}

Status MakeAbsolute(const fs::path& folder, config::Recipe* recipe) {
  const json* llm = LlmTable(*recipe);
  if (llm == nullptr) return Status::Ok();
  const json given = *llm;
  for (const char* key : {"prices", "api_key_file", "ca_file"}) {
    const std::string path = given.value(key, "");
    if (!path.empty() && fs::path(path).is_relative())
      DAVINCI_RETURN_IF_ERROR(recipe->Override(
          fmt::format("llm.{}={}", key, config::TomlLiteral(json((folder / path).string())))));
  }
  return Status::Ok();
}

}  // namespace

Result<UserConfig> LoadUserConfig() {
  UserConfig user;
  const std::string named = Variable("DAVINCI_CONFIG");
  if (!named.empty()) {
    user.file = named;
  } else if (const std::string config = Variable("XDG_CONFIG_HOME"); !config.empty()) {
    user.file = fs::path(config) / "davinci/config.toml";
  } else if (const std::string home = Variable("HOME"); !home.empty()) {
    user.file = fs::path(home) / ".config/davinci/config.toml";
  }
  std::error_code error;
  user.exists = !user.file.empty() && fs::exists(user.file, error);
  if (!user.exists) {
    if (named.empty()) return user;
    return NotFound(fmt::format("{}: no such file; DAVINCI_CONFIG names it", named));
  }
  DAVINCI_ASSIGN_OR_RETURN(user.recipe, config::Recipe::Load(user.file));
  const bool has_prices = user.recipe.tree().values.contains("models");
  if (has_prices) DAVINCI_RETURN_IF_ERROR(llm::PriceTable::Load(user.file).status());
  user.recipe.Drop("models");
  DAVINCI_RETURN_IF_ERROR(CheckLlmTables(user.recipe));
  DAVINCI_RETURN_IF_ERROR(MakeAbsolute(fs::absolute(user.file, error).parent_path(), &user.recipe));
  const json* llm = LlmTable(user.recipe);
  if (has_prices && (llm == nullptr || !llm->contains("prices")))
    DAVINCI_RETURN_IF_ERROR(user.recipe.Override(
        "llm.prices=" + config::TomlLiteral(json(fs::absolute(user.file, error).string()))));
  return user;
}

config::Recipe OverUserConfig(const config::Recipe& recipe, const UserConfig& user) {
  config::Recipe merged = user.recipe;
  // Keys must not travel to endpoints that they are not for.
  if (NamesEndpoints(recipe) && NamesEndpoints(user.recipe))
    for (const char* key : {"llm.model", "llm.api_key_env", "llm.api_key_file", "llm.headers",
                            "llm.extra_body", "llm.policy", "llm.selection", "llm.summary"})
      merged.Drop(key);
  merged.Merge(recipe);
  return merged;
}

}  // namespace davinci::runs
