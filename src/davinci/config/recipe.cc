#include "davinci/config/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/suggest.h"

namespace davinci::config {
namespace {

constexpr uint64_t kLargestRecipe_bytes = 4 << 20;

bool IsBareKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::vector<std::string> SplitKey(std::string_view key) {
  std::vector<std::string> parts;
  while (true) {
    const size_t dot = key.find('.');
    parts.emplace_back(key.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    key.remove_prefix(dot + 1);
  }
}

std::string PointerOf(std::string_view key) {
  std::string pointer;
  for (const std::string& part : SplitKey(key)) pointer += PointerStep(part);
  return pointer;
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Locations below `pointer` of what is being replaced must not survive it.
void DropLocations(TomlTree& tree, const std::string& pointer) {
  std::erase_if(tree.locations, [&](const auto& entry) {
    return entry.first == pointer || entry.first.starts_with(pointer + "/");
  });
}

void MergeTable(TomlTree& into, Json& target, const TomlTree& from, const Json& source,
                const std::string& pointer) {
  for (const auto& [key, value] : source.items()) {
    const std::string child = pointer + PointerStep(key);
    if (value.is_object() && target.contains(key) && target[key].is_object()) {
      MergeTable(into, target[key], from, value, child);
      continue;
    }
    DropLocations(into, child);
    target[key] = value;
    for (auto it = from.locations.lower_bound(child);
         it != from.locations.end() && it->first.starts_with(child); ++it) {
      if (it->first == child || it->first[child.size()] == '/') into.locations.insert(*it);
    }
  }
}

}  // namespace

Result<Recipe> Recipe::Parse(std::string_view text, std::string_view source) {
  Recipe recipe;
  DAVINCI_ASSIGN_OR_RETURN(recipe.tree_, ParseToml(text, source));
  return recipe;
}

Result<Recipe> Recipe::Load(const std::filesystem::path& path) {
  DAVINCI_ASSIGN_OR_RETURN(std::string text, ReadFile(path, kLargestRecipe_bytes));
  return Parse(text, path.string());
}

void Recipe::Merge(const Recipe& over) {
  MergeTable(tree_, tree_.values, over.tree_, over.tree_.values, "");
}

Status Recipe::Override(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  const auto malformed = [&](std::string_view why) {
    return InvalidArgument(
        fmt::format("override \"{}\": {}; write it as section.key=value", assignment, why));
  };
  if (equals == std::string_view::npos) return malformed("there is no '='");
  const std::string_view key = Trim(assignment.substr(0, equals));
  const std::string_view value = Trim(assignment.substr(equals + 1));
  const std::vector<std::string> parts = SplitKey(key);
  if (!std::all_of(parts.begin(), parts.end(), IsBareKey))
    return malformed("the key is not a dotted name");
  if (value.empty()) return malformed("there is no value (for an empty text write \"\")");

  const std::string source = fmt::format("override {}", assignment);
  Json parsed;
  // A line break would let a value bring further keys with it.
  Result<TomlTree> tree = value.find('\n') == std::string_view::npos
                              ? ParseToml(fmt::format("v = {}", value), source)
                              : Result<TomlTree>(InvalidArgument("line break"));
  if (tree.ok()) {
    parsed = tree->values["v"];
  } else if (value.find_first_of("\"'[]{}\n") != std::string_view::npos) {
    return malformed("the value is not valid TOML");
  } else {
    parsed = std::string(value);
  }

  Recipe layer;
  Json* place = &layer.tree_.values;
  std::string pointer;
  for (const std::string& part : parts) {
    pointer += PointerStep(part);
    place = &(*place)[part];
    layer.tree_.locations[pointer] = {source, 0};
  }
  *place = std::move(parsed);
  Merge(layer);
  return Status::Ok();
}

void Recipe::Drop(std::string_view key) {
  const size_t dot = key.rfind('.');
  Json* table = &tree_.values;
  if (dot != std::string_view::npos) {
    for (const std::string& part : SplitKey(key.substr(0, dot))) {
      if (!table->is_object() || !table->contains(part)) return;
      table = &(*table)[part];
    }
  }
  if (table->is_object()) table->erase(std::string(key.substr(dot + 1)));
  DropLocations(tree_, PointerOf(key));
}

const Json* RecipeReader::Find(std::string_view key) {
  const Json* place = &recipe_.tree().values;
  for (const std::string& part : SplitKey(key)) {
    if (!place->is_object()) return nullptr;
    auto found = place->find(part);
    if (found == place->end()) return nullptr;
    place = &*found;
  }
  return place;
}

void RecipeReader::Problem(std::string_view key, std::string_view what) {
  const SourceLocation where = recipe_.tree().Locate(PointerOf(key));
  problems_.push_back(where.source.empty()
                          ? fmt::format("{}: {}", key, what)
                          : fmt::format("{}: {}: {}", where.ToString(), key, what));
}

void RecipeReader::WrongType(std::string_view key, std::string_view wanted, const Json& found) {
  Problem(key, fmt::format("must be {}, not {} ({})", wanted, TypeName(found), TomlLiteral(found)));
}

template <typename T, typename Accept>
void RecipeReader::ReadAs(std::string_view key, T* value, std::string_view wanted, Accept accept) {
  if (const Json* found = Find(key)) {
    if (accept(*found)) {
      *value = found->get<T>();
    } else {
      WrongType(key, wanted, *found);
    }
  }
  resolved_[std::string(key)] = *value;
}

namespace {

// TOML integers are int64; nlohmann may hold non-negative ones as unsigned.
bool IsInt(const Json& value, int64_t low, int64_t high) {
  if (!value.is_number_integer()) return false;
  const int64_t number = value.get<int64_t>();
  return number >= low && number <= high;
}

template <typename Accept>
auto ListOf(Accept accept) {
  return [accept](const Json& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(), accept);
  };
}

bool IsText(const Json& value) { return value.is_string(); }
bool IsNumber(const Json& value) { return value.is_number(); }
bool IsInt64(const Json& value) { return value.is_number_integer(); }

}  // namespace

void RecipeReader::Read(std::string_view key, bool* value) {
  ReadAs(key, value, "true or false", [](const Json& v) { return v.is_boolean(); });
}
void RecipeReader::Read(std::string_view key, int* value) {
  using Limits = std::numeric_limits<int>;
  ReadAs(key, value, "an integer of 32 bits",
         [](const Json& v) { return IsInt(v, Limits::min(), Limits::max()); });
}
void RecipeReader::Read(std::string_view key, int64_t* value) {
  ReadAs(key, value, "an integer", IsInt64);
}
void RecipeReader::Read(std::string_view key, double* value) {
  ReadAs(key, value, "a number", IsNumber);
}
void RecipeReader::Read(std::string_view key, std::string* value) {
  ReadAs(key, value, "text in quotes", IsText);
}
void RecipeReader::Read(std::string_view key, std::vector<std::string>* value) {
  ReadAs(key, value, "a list of texts", ListOf(IsText));
}
void RecipeReader::Read(std::string_view key, std::vector<int64_t>* value) {
  ReadAs(key, value, "a list of integers", ListOf(IsInt64));
}
void RecipeReader::Read(std::string_view key, std::vector<double>* value) {
  ReadAs(key, value, "a list of numbers", ListOf(IsNumber));
}

void RecipeReader::ReadTable(std::string_view key, Json* table) {
  ReadAs(key, table, "a table", [](const Json& v) { return v.is_object(); });
}

void RecipeReader::ReadChoice(std::string_view key, std::string* value,
                              const std::vector<std::string>& choices) {
  std::string chosen = *value;
  Read(key, &chosen);
  if (std::find(choices.begin(), choices.end(), chosen) == choices.end()) {
    Problem(key, fmt::format("\"{}\" is not one of {}{}", chosen, fmt::join(choices, ", "),
                             DidYouMean(chosen, choices)));
  } else {
    *value = chosen;
  }
}

void RecipeReader::CollectUnknown(const Json& table, const std::string& prefix,
                                  const std::string& pointer) {
  for (const auto& [key, value] : table.items()) {
    const std::string name = prefix + key;
    if (resolved_.contains(name)) continue;
    const std::string section = name + ".";
    const auto below = resolved_.lower_bound(section);
    const bool is_section = below != resolved_.end() && below->first.starts_with(section);
    if (is_section && value.is_object()) {
      CollectUnknown(value, section, pointer + PointerStep(key));
      continue;
    }
    const std::string where = recipe_.tree().Locate(pointer + PointerStep(key)).ToString();
    if (is_section) {
      problems_.push_back(fmt::format("{}: {} is a section, not a value", where, name));
      continue;
    }
    std::vector<std::string> known;
    for (const auto& entry : resolved_) {
      known.push_back(entry.first);
      // A mistyped section is near to a section, not to the long names in it.
      for (size_t dot = entry.first.find('.'); dot != std::string::npos;
           dot = entry.first.find('.', dot + 1)) {
        known.push_back(entry.first.substr(0, dot));
      }
    }
    problems_.push_back(
        fmt::format("{}: unknown key \"{}\"{}", where, name, DidYouMean(name, known)));
  }
}

Status RecipeReader::Finish() {
  CollectUnknown(recipe_.tree().values, "", "");
  if (problems_.empty()) return Status::Ok();
  return InvalidArgument(fmt::format("{}", fmt::join(problems_, "\n")));
}

std::string RecipeReader::ResolvedToml() const {
  // Keys outside sections come first: after a [section] line they would belong to it.
  std::string top, sections;
  for (const auto& [key, value] : resolved_) {
    if (key.find('.') == std::string::npos)
      top += fmt::format("{} = {}\n", key, TomlLiteral(value));
  }
  std::map<std::string, std::string> bodies;
  for (const auto& [key, value] : resolved_) {
    const size_t dot = key.rfind('.');
    if (dot != std::string::npos) {
      bodies[key.substr(0, dot)] +=
          fmt::format("{} = {}\n", key.substr(dot + 1), TomlLiteral(value));
    }
  }
  for (const auto& [section, body] : bodies) {
    sections +=
        fmt::format("{}[{}]\n{}", top.empty() && sections.empty() ? "" : "\n", section, body);
  }
  return top + sections;
}

}  // namespace davinci::config
