// What tokens cost. The built-in table is empty: prices change, and a stale one is worse than none.
// Users keep their own:
//
//   [models."some-model"]
//   input_usd_per_million = 0.15
//   cached_input_usd_per_million = 0.03   # default: as input
//   output_usd_per_million = 0.60
//   [models."local-*"]                    # a trailing * matches any rest; the longest match wins
//   input_usd_per_million = 0
//   output_usd_per_million = 0
//
// It may lie in a user's configuration, whose table [llm] is skipped.
//
// A model without an entry has an unknown price; that is never taken for zero.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"

namespace davinci::llm {

struct Price {
  double input_usd_per_million = 0;
  double cached_input_usd_per_million = 0;
  double output_usd_per_million = 0;
};

class PriceTable {
 public:
  PriceTable() = default;  // empty
  // Unknown keys, missing or negative prices are InvalidArgument with file and line.
  static Result<PriceTable> Parse(std::string_view toml, std::string_view source);
  static Result<PriceTable> Load(const std::filesystem::path& file);

  std::optional<Price> Find(std::string_view model) const;
  // US dollars, or nothing when the price is unknown.
  std::optional<double> Cost(std::string_view model, const Usage& usage) const;

 private:
  std::map<std::string, Price, std::less<>> prices_;
};

// A budget in dollars can be kept for models of known price only: InvalidArgument, with the remedy,
// for another. `budget_usd` 0: no budget.
Status CheckPrice(double budget_usd, const PriceTable& prices, const std::string& model);

}  // namespace davinci::llm
