#include "davinci/synth/style.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/suggest.h"
#include "davinci/synth/table_reader.h"

namespace davinci::synth {
namespace {

Result<OptionWeights> ReadOptions(const std::string& axis, TableReader row) {
  const auto known = StyleAxes().find(axis);
  if (known == StyleAxes().end()) {
    std::vector<std::string> names;
    for (const auto& [name, options] : StyleAxes()) names.push_back(name);
    return row.Error(fmt::format("no style axis '{}'{}", axis, DidYouMean(axis, names)));
  }
  OptionWeights weights;
  for (const std::string& option : row.Keys()) {
    if (std::find(known->second.begin(), known->second.end(), option) == known->second.end())
      return row.Error(fmt::format("axis {} has no option '{}'{}", axis, option,
                                   DidYouMean(option, known->second)));
    const double weight = row.Number(option, 0);
    if (weight > 0) weights.emplace_back(option, weight);
  }
  if (weights.empty()) return row.Error(fmt::format("axis {} has no option of weight > 0", axis));
  DAVINCI_RETURN_IF_ERROR(row.Finish());
  return weights;
}

}  // namespace

const std::map<std::string, std::vector<std::string>>& StyleAxes() {
  static const std::map<std::string, std::vector<std::string>> axes = {
      {"sizes", {"init", "module", "literal"}},
      {"const_case", {"upper", "lower"}},
      {"const_place", {"top", "bottom"}},
      {"attrs", {"literal", "init", "constant"}},
      {"dims", {"shape", "self", "size"}},
      {"spelling",
       {"module", "functional", "torch", "method", "operator", "hand", "einsum", "any"}},
      {"vars", {"reuse", "fresh", "nested"}},
      {"sequential", {"yes", "no"}},
      {"helpers", {"class", "inline"}},
      {"functions", {"yes", "no"}},
      {"loops", {"list", "sequential", "each"}},
      {"super", {"plain", "named"}},
      {"docstring", {"none", "line", "args", "full"}},
      {"module_docstring", {"none", "line"}},
      {"comments", {"none", "shapes", "steps"}},
      {"hints", {"none", "full"}},
      {"inputs", {"direct", "locals", "shapes"}},
      {"init_inputs", {"names", "literals"}},
      {"init_default", {"no", "yes"}},
      {"unused", {"no", "yes"}},
      {"returns", {"tuple", "dict", "list"}},
      {"imports", {"minimal", "usual"}},
      {"axis_sign", {"negative", "positive", "mixed"}},
      {"kwargs", {"short", "verbose"}},
      {"quotes", {"double", "single"}},
      {"entry", {"Model", "own"}},
  };
  return axes;
}

StyleChoice::StyleChoice(const Style& style, SplitMix64* rng) {
  for (const auto& [axis, options] : style.axes) {
    double total = 0;
    for (const auto& [option, weight] : options) total += weight;
    double at = rng->Uniform() * total;
    std::string chosen = options.back().first;
    for (const auto& [option, weight] : options) {
      at -= weight;
      if (at > 0) continue;
      chosen = option;
      break;
    }
    chosen_[axis] = std::move(chosen);
  }
}

Result<StyleBook> LoadStyles(const std::filesystem::path& folder) {
  StyleBook book;
  DAVINCI_ASSIGN_OR_RETURN(auto tree, LoadTable(folder / "styles.toml"));
  TableReader root(tree);
  std::map<std::string, OptionWeights> defaults;
  for (auto& [axis, row] : root.Tables("defaults")) {
    DAVINCI_ASSIGN_OR_RETURN(defaults[axis], ReadOptions(axis, row));
  }
  for (const auto& [axis, options] : StyleAxes())
    if (!defaults.contains(axis)) return root.Error(fmt::format("[defaults.{}] is missing", axis));
  for (auto& row : root.Rows("style")) {
    Style style;
    style.name = row.Text("name", "");
    style.weight = row.Number("weight", 1);
    style.held_out = row.Number("held_out", 0) != 0;
    style.axes = defaults;
    for (auto& [axis, options] : row.Tables("axes")) {
      DAVINCI_ASSIGN_OR_RETURN(style.axes[axis], ReadOptions(axis, options));
    }
    DAVINCI_RETURN_IF_ERROR(row.Finish());
    book.styles.push_back(std::move(style));
  }
  if (book.styles.empty()) return root.Error("no [[style]]");
  DAVINCI_RETURN_IF_ERROR(root.Finish());
  DAVINCI_ASSIGN_OR_RETURN(auto words, LoadTable(folder / "words.toml"));
  TableReader table(words);
  for (const std::string& key : table.Keys()) book.words[key] = table.Texts(key);
  for (const char* key : {"docstring", "forward_docstring", "module_docstring", "generic_vars",
                          "unused_arguments", "step_comments", "list_names", "sequential_names",
                          "entries", "function_names", "input_comment"})
    if (book.words[key].empty()) return table.Error(fmt::format("words.toml: {} is missing", key));
  DAVINCI_RETURN_IF_ERROR(table.Finish());
  return book;
}

}  // namespace davinci::synth
