#include "davinci/llm/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/suggest.h"
#include "davinci/config/toml_tree.h"

namespace davinci::llm {
namespace {

const std::vector<std::string>& Keys() {
  static const std::vector<std::string> keys = {
      "input_usd_per_million", "cached_input_usd_per_million", "output_usd_per_million"};
  return keys;
}

}  // namespace

Result<PriceTable> PriceTable::Parse(std::string_view toml, std::string_view source) {
  DAVINCI_ASSIGN_OR_RETURN(const config::TomlTree tree, config::ParseToml(toml, source));
  const auto wrong = [&](const std::string& pointer, std::string_view what) {
    return InvalidArgument(fmt::format("{}: {}", tree.Locate(pointer).ToString(), what));
  };
  PriceTable table;
  for (const auto& [key, models] : tree.values.items()) {
    if (key == "llm" && models.is_object()) continue;  // the table lies in a user's configuration
    const std::string top = "/" + config::PointerStep(key);
    if (key != "models" || !models.is_object()) {
      return wrong(top, fmt::format("unknown key \"{}\"; a price table holds [models.\"NAME\"] "
                                    "tables and nothing else",
                                    key));
    }
    for (const auto& [model, entry] : models.items()) {
      const std::string here = top + "/" + config::PointerStep(model);
      if (!entry.is_object()) {
        return wrong(here, fmt::format("models.\"{}\" must be a table with {} and {}", model,
                                       Keys()[0], Keys()[2]));
      }
      for (const auto& [name, value] : entry.items()) {
        const std::string member = here + "/" + config::PointerStep(name);
        if (std::find(Keys().begin(), Keys().end(), name) == Keys().end())
          return wrong(member, fmt::format("unknown key \"{}\"{}", name, DidYouMean(name, Keys())));
        if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0)
          return wrong(member, fmt::format("{} must be a number, not negative", name));
      }
      for (const size_t required : {0, 2}) {
        if (!entry.contains(Keys()[required]))
          return wrong(here, fmt::format("models.\"{}\" lacks {}", model, Keys()[required]));
      }
      Price price;
      price.input_usd_per_million = entry[Keys()[0]].get<double>();
      price.cached_input_usd_per_million = entry.value(Keys()[1], price.input_usd_per_million);
      price.output_usd_per_million = entry[Keys()[2]].get<double>();
      table.prices_[model] = price;
    }
  }
  return table;
}

Result<PriceTable> PriceTable::Load(const std::filesystem::path& file) {
  constexpr uint64_t kMaxTable_bytes = 4 << 20;
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxTable_bytes));
  return Parse(text, file.string());
}

std::optional<Price> PriceTable::Find(std::string_view model) const {
  if (const auto exact = prices_.find(model); exact != prices_.end()) return exact->second;
  const Price* best = nullptr;
  size_t best_length = 0;
  for (const auto& [name, price] : prices_) {
    if (!name.ends_with('*')) continue;
    const std::string_view prefix = std::string_view(name).substr(0, name.size() - 1);
    if (model.starts_with(prefix) && (best == nullptr || prefix.size() > best_length)) {
      best = &price;
      best_length = prefix.size();
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::optional<double> PriceTable::Cost(std::string_view model, const Usage& usage) const {
  const std::optional<Price> price = Find(model);
  if (!price) return std::nullopt;
  const auto cached = static_cast<double>(usage.cached_prompt_tokens);
  const auto fresh = static_cast<double>(usage.prompt_tokens) - cached;
  return 1e-6 *
         (fresh * price->input_usd_per_million + cached * price->cached_input_usd_per_million +
          static_cast<double>(usage.completion_tokens) * price->output_usd_per_million);
}

Status CheckPrice(double budget_usd, const PriceTable& prices, const std::string& model) {
  if (!(budget_usd > 0) || prices.Find(model)) return Status::Ok();
  return InvalidArgument(
      fmt::format("a budget of ${0:g} needs the price of \"{1}\"; write a TOML file with\n"
                  "  [models.\"{1}\"]\n"
                  "  input_usd_per_million = …\n"
                  "  output_usd_per_million = …\n"
                  "and name it with --set llm.prices=FILE, or put the table into "
                  "~/.config/davinci/config.toml; or "
                  "limit --max-calls instead of dollars",
                  budget_usd, model));
}

}  // namespace davinci::llm
