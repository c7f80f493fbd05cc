// Recipes: typed settings from TOML files and the command line.
//
// Two types, so that nothing half-merged is ever used:
//
//   Recipe        partial. Layers merge into it: files first, then "a.b=c" overrides; the later
//                 one wins.
//   RecipeReader  turns it into the caller's struct. It knows every key that was asked for, so it
//                 can refuse the unknown ones (a typo must not silently run an experiment
//                 with the default), and it can print the resolved settings, defaults included.
//
//   DAVINCI_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load("recipes/fast.toml"));
//   DAVINCI_RETURN_IF_ERROR(recipe.Override("judge.trials=50"));
//   JudgeSettings settings;                    // holds the defaults
//   RecipeReader reader(recipe);
//   reader.Read("judge.trials", &settings.trials);
//   reader.ReadChoice("judge.target", &settings.target, {"cpu", "cuda"});
//   DAVINCI_RETURN_IF_ERROR(reader.Finish());  // types, unknown keys: all problems at once
//   WriteFileAtomic(run_dir / "resolved.toml", reader.ResolvedToml());
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/config/toml_tree.h"

namespace davinci::config {

class Recipe {
 public:
  Recipe() = default;

  static Result<Recipe> Parse(std::string_view text, std::string_view source);
  static Result<Recipe> Load(const std::filesystem::path& path);

  // Tables merge key by key, everything else is replaced by the value of `over`.
  void Merge(const Recipe& over);

  // "a.b.c=value". The value is TOML (3, 0.5, true, "x", ["a", "b"]); a bare word that is no TOML
  // is text.
  Status Override(std::string_view assignment);

  // Takes the value at dotted `key` out, if there is one.
  void Drop(std::string_view key);

  const TomlTree& tree() const { return tree_; }

 private:
  TomlTree tree_;
};

// Reads each known key once. Not thread-safe. `recipe` must outlive the reader.
class RecipeReader {
 public:
  explicit RecipeReader(const Recipe& recipe) : recipe_(recipe) {}

  // The value at dotted `key` goes to `*value`; when the key is absent `*value` keeps its default.
  // A value of another type, or an integer out of range, becomes a problem reported by Finish().
  // Integers are accepted where a double is wanted, not the other way round.
  void Read(std::string_view key, bool* value);
  void Read(std::string_view key, int* value);
  void Read(std::string_view key, int64_t* value);
  void Read(std::string_view key, double* value);
  void Read(std::string_view key, std::string* value);
  void Read(std::string_view key, std::vector<std::string>* value);
  void Read(std::string_view key, std::vector<int64_t>* value);
  void Read(std::string_view key, std::vector<double>* value);
  // A table whose keys are the user's own.
  void ReadTable(std::string_view key, Json* table);
  // As text, one of `choices`.
  void ReadChoice(std::string_view key, std::string* value,
                  const std::vector<std::string>& choices);
  // A problem of the caller's own ("must be positive"), reported at the place where `key` was
  // written.
  void Problem(std::string_view key, std::string_view what);

  // OK, or InvalidArgument with one line per problem, each with file, line and remedy.
  Status Finish();

  // Every key read so far with the value in force, as a TOML document that gives the same settings
  // again.
  std::string ResolvedToml() const;

 private:
  const Json* Find(std::string_view key);
  void WrongType(std::string_view key, std::string_view wanted, const Json& found);
  template <typename T, typename Accept>
  void ReadAs(std::string_view key, T* value, std::string_view wanted, Accept accept);
  void CollectUnknown(const Json& table, const std::string& prefix, const std::string& pointer);

  const Recipe& recipe_;
  std::map<std::string, Json, std::less<>> resolved_;
  std::vector<std::string> problems_;
};

}  // namespace davinci::config
